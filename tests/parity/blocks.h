/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Written by tests/parity/blocks.py with PyTorch 2.15.0+cu132: do not edit. */
/* clang-format off */
#define BLOCKS_BATCH 4
#define BLOCKS_STEPS 4
#define BLOCKS_CLASSES 10

static const struct {
	const char *network;
	int width;
	int side;
	double rate;
	float logits[BLOCKS_CLASSES];    /* of the first picture, in training, before step 1 */
	float first_gradient;            /* 2-norm of the first parameter's gradient then */
	float gradient;                  /* of all gradients then */
	float losses[BLOCKS_STEPS];
	float evaluated[BLOCKS_CLASSES]; /* of the first picture afterwards, not in training */
	float weights;                   /* 2-norm of all parameters afterwards */
	float buffers;                   /* of all running statistics afterwards */
} blocks[] = {
	{"resnet18", 8, 16, 0.001,
	 {-0.184957076f, 0.319437867f, -0.394754105f, 1.10993587f, 0.0251061388f, -0.611973267f, 1.9811361f, 1.87975215f, -0.384913387f, 0.570412416f},
	 7.92752788f, 26.0055425f,
	 {2.66568713f, 2.14903734f, 1.60775623f, 1.21488219f},
	 {-0.0335859617f, -0.0842415508f, -0.0296983722f, 0.0644071714f, 0.0794259763f, 0.167798846f, 0.166960551f, 0.200896081f, 0.130605173f, -0.0454519518f},
	 34.8682745f, 21.3884548f},
	{"efficientnet", 8, 64, 0.0001,
	 {-0.266760227f, 0.419717483f, -0.408562759f, -0.105861318f, 0.191651418f, -0.188740277f, 0.0451001819f, -0.377572648f, 0.124451668f, -0.195839533f},
	 90.0905061f, 143.285229f,
	 {2.72554921f, 2.52958832f, 2.4928214f, 2.27676567f},
	 {-0.149028827f, -0.0185822716f, -0.0498054303f, 0.0200504286f, -0.0140817561f, -0.0743666864f, -0.0424072746f, 0.00778569081f, 0.0986568653f, -0.210362119f},
	 102.704634f, 86.3873597f},
	{"convnext", 8, 32, 0.001,
	 {-1.59693983f, 0.287180091f, -0.740163561f, 1.05327348f, 0.970928859f, -0.76428712f, -1.4915106f, -0.638163884f, -2.19182984f, 1.82312815f},
	 4.38948175f, 9.97173226f,
	 {2.68676726f, 2.58777727f, 2.40326141f, 2.14937996f},
	 {-0.552277474f, 0.197560651f, -0.560780175f, 0.9507915f, 0.608551809f, -0.703754629f, -1.77300074f, -0.598578593f, -2.06347245f, 1.5616929f},
	 64.3225361f, 0.0f},
};
