#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records how torchvision and timm prepare pictures for their weights, in presets.txt beside this
file, a line each: name, shorter side, side of the middle, whether by cubics, means, deviations.

    python3 tests/parity/record_presets.py

Run with the newest torchvision and timm."""
import os

import timm
import torchvision
from timm.data import create_transform, resolve_data_config
from torchvision.transforms import InterpolationMode

HERE = os.path.dirname(os.path.abspath(__file__))
TORCHVISION = ["alexnet", "vgg11", "vgg11_bn", "vgg13", "vgg13_bn", "vgg16", "vgg16_bn", "vgg19",
               "vgg19_bn", "resnet18", "resnet34", "resnet50", "mobilenet_v2", "efficientnet_b0",
               "convnext_tiny", "densenet121", "squeezenet1_1"]
TIMM = [("efficientnet_lite0", "efficientnet_lite0.ra_in1k"),
        ("vit_tiny", "vit_tiny_patch16_224.augreg_in21k_ft_in1k")]


def line(name, resize, crop, interpolation, mean, deviation):
    bicubic = interpolation == InterpolationMode.BICUBIC
    return " ".join([name, "%d %d %d" % (resize, crop, bicubic)]
                    + ["%.9g" % float(v) for v in [*mean, *deviation]])


def of_torchvision(name):
    p = torchvision.models.get_model_weights(name)["IMAGENET1K_V1"].transforms()
    return line(name, p.resize_size[0], p.crop_size[0], p.interpolation, p.mean, p.std)


def of_timm(name, weights):
    config = resolve_data_config({}, model=timm.create_model(weights))
    resize, crop, _, normalise = create_transform(**config).transforms
    return line(name, resize.size, crop.size[0], resize.interpolation, normalise.mean,
                normalise.std)


def main():
    with open(os.path.join(HERE, "presets.txt"), "w") as out:
        print("# Recorded by record_presets.py with torchvision %s, timm %s"
              % (torchvision.__version__, timm.__version__), file=out)
        for name in TORCHVISION:
            print(of_torchvision(name), file=out)
        for name, weights in TIMM:
            print(of_timm(name, weights), file=out)


if __name__ == "__main__":
    main()
