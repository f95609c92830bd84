#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records what torchvision makes of pictures, with the parameters given, in augment.txt beside this
file, in the format of record_layers.py: values of 1/64, computed in f64."""
import os

import torch
import torchvision
from torchvision.transforms import InterpolationMode
from torchvision.transforms.v2 import functional as F

from record_layers import HERE, Record

torch.manual_seed(20261125)
MODES = ["constant", "edge", "reflect", "symmetric"]


def picture(channels, height, width):
    return torch.randint(0, 65, (channels, height, width)).double() / 64


def colourful():
    """Every order of the channels, greys, black, white and ties beside random colours."""
    x = picture(3, 4, 5)
    special = [(0, 0, 0), (1, 1, 1), (0.5, 0.5, 0.5), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0),
               (0, 1, 1), (1, 0, 1), (0.75, 0.25, 0.5), (0.75, 0.5, 0.25), (0.5, 0.75, 0.25),
               (0.25, 0.75, 0.5), (0.25, 0.5, 0.75), (0.5, 0.25, 0.75)]
    for i, pixel in enumerate(special):
        x.view(3, -1)[:, i] = torch.tensor(pixel).double()
    return x


def number(value):
    return torch.tensor([float(value)], dtype=torch.float64)


def colours(record):
    functions = {"brightness": F.adjust_brightness, "contrast": F.adjust_contrast,
                 "saturation": F.adjust_saturation}
    for x in (colourful(), picture(1, 4, 5)):
        for name, function in functions.items():
            for factor in (0, 0.5, 1.75):
                record.case(name, {}, {"x": x, "number": number(factor),
                                       "y": function(x, factor)})
        for turn in (-0.5, -0.125, 0.25):
            record.case("hue", {}, {"x": x, "number": number(turn), "y": F.adjust_hue(x, turn)})


def geometry(record):
    for channels, height, width in ((1, 5, 5), (2, 4, 6)):
        x = picture(channels, height, width)
        for degrees in (-180, -33, 10, 90, 171):
            if height != width and degrees == 90:
                continue  # sampling points halfway between pixels
            for bilinear in (0, 1):
                mode = InterpolationMode.BILINEAR if bilinear else InterpolationMode.NEAREST
                y = F.rotate(x, degrees, mode)
                record.case("rotate", {"bilinear": bilinear},
                            {"x": x, "number": number(degrees), "y": y})
    for area in ((0, 0, 5, 7), (1, 2, 3, 4), (2, 0, 3, 1), (0, 6, 1, 1)):
        x = picture(2, 5, 7)
        y = F.resized_crop(x, *area, (5, 7), InterpolationMode.BILINEAR, antialias=True)
        record.case("resized_crop", {"area": area}, {"x": x, "y": y})
    x = picture(1, 5, 6)
    for mode, name in enumerate(MODES):
        for down, right in ((3, -2), (-4, 4), (0, 1)):
            padded = F.pad(x, [4], padding_mode=name)
            y = F.crop(padded, 4 - down, 4 - right, 5, 6)
            record.case("crop", {"mode": mode, "move": (down, right)}, {"x": x, "y": y})


def main():
    with open(os.path.join(HERE, "augment.txt"), "w") as out:
        print("# Recorded by record_augment.py with torchvision", torchvision.__version__, file=out)
        record = Record(out)
        record.digits = 9
        colours(record)
        geometry(record)


if __name__ == "__main__":
    main()
