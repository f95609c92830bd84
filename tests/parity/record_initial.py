#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records the initial values of torchvision's and timm's networks in initial.txt beside this file:
of each network a line of its name, the side of its pictures and the width of its first stage (0:
its own), and of each parameter its name, number of elements, mean, deviation and largest magnitude.

    python3 tests/parity/record_initial.py

The networks are whole but for VGG's head, 512 wide, and ConvNeXt, a quarter as wide.  Timm's names
of the vision transformer become torchvision's.  The CIFAR ResNets, which neither has, begin as He
et al. 2015 says.  Run with the newest torchvision and timm.
"""
import os

import timm
import torch
import torchvision
from torch import nn
from torchvision.models.convnext import CNBlockConfig, ConvNeXt

import gallery

CLASSES = 10
HERE = os.path.dirname(os.path.abspath(__file__))
tv = torchvision.models


def vgg(name):
    """Torchvision's own constructor, for linear layers of at most 512."""
    linear = nn.Linear

    class Narrow(linear):
        def __init__(self, inputs, outputs):
            super().__init__(min(inputs, 512), min(outputs, 512))

    nn.Linear = Narrow
    try:
        return getattr(tv, name)(num_classes=CLASSES)
    finally:
        nn.Linear = linear


def convnext():
    blocks = [CNBlockConfig(24, 48, 3), CNBlockConfig(48, 96, 3), CNBlockConfig(96, 192, 9),
              CNBlockConfig(192, None, 3)]
    return ConvNeXt(blocks, num_classes=CLASSES)


def resnet20():
    model = gallery.CifarResNet(20, True)
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight)
    return model


def vit():
    return timm.create_model("vit_tiny_patch16_224", img_size=32, patch_size=4,
                             num_classes=CLASSES)


VIT_NAMES = [("cls_token", "class_token"), ("pos_embed", "encoder.pos_embedding"),
             ("patch_embed.proj", "conv_proj"), ("blocks.", "encoder.layers.encoder_layer_"),
             ("norm.", "encoder.ln."), ("head.", "heads.head.")]
VIT_PARTS = [(".norm1.", ".ln_1."), (".norm2.", ".ln_2."),
             (".attn.qkv.", ".self_attention.in_proj_"),
             (".attn.proj.", ".self_attention.out_proj."), (".mlp.fc1.", ".mlp.0."),
             (".mlp.fc2.", ".mlp.3.")]


def vit_name(name):
    for old, new in VIT_NAMES:
        if name.startswith(old):
            name = new + name[len(old):]
            break
    for old, new in VIT_PARTS:
        name = name.replace(old, new)
    return name


NETWORKS = [("alexnet:small", 32, 0, gallery.alexnet),
            ("vgg11_bn:small", 32, 0, lambda: vgg("vgg11_bn")),
            ("resnet18:published", 224, 0, lambda: tv.resnet18(num_classes=CLASSES)),
            ("resnet20:projection", 32, 0, resnet20),
            ("mobilenet_v2:published", 224, 0, lambda: tv.mobilenet_v2(num_classes=CLASSES)),
            ("efficientnet_lite0:published", 224, 0,
             lambda: timm.create_model("efficientnet_lite0", num_classes=CLASSES)),
            ("efficientnet_b0:published", 224, 0, lambda: tv.efficientnet_b0(num_classes=CLASSES)),
            ("convnext_tiny:published", 224, 24, convnext),
            ("densenet121:published", 224, 0, lambda: tv.densenet121(num_classes=CLASSES)),
            ("squeezenet1_1:published", 224, 0, lambda: tv.squeezenet1_1(num_classes=CLASSES)),
            ("vit_tiny:small", 32, 0, vit)]


def record(out, name, side, width, make):
    parameters = list(make().named_parameters())
    print("network %s %d %d %d" % (name, side, width, len(parameters)), file=out)
    for parameter, value in parameters:
        value = value.detach().double()
        named = vit_name(parameter) if name.startswith("vit") else parameter
        print(named, value.numel(), "%.4g %.4g %.4g"
              % (value.mean(), value.std(correction=0), value.abs().max()), file=out)


def main():
    torch.manual_seed(20261126)
    with open(os.path.join(HERE, "initial.txt"), "w") as out:
        print("# Recorded by record_initial.py with PyTorch %s, torchvision %s, timm %s"
              % (torch.__version__, torchvision.__version__, timm.__version__), file=out)
        for network in NETWORKS:
            record(out, *network)


if __name__ == "__main__":
    main()
