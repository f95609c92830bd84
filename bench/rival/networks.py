# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""The benchmark's networks in PyTorch, layer for layer those of core/models.

lookup(name) gives (make, shape of one image, classes, momentum); momentum is that of SGD in
training.  Those of the gallery, named with their form, are the ones whose numbers
tests/parity/gallery.py records; they need torchvision and timm.
"""
import os
import sys

import torch
from torch import nn
from torch.nn import functional as F


def mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128),
                         nn.ReLU(), nn.Linear(128, 10))


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84),
        nn.ReLU(), nn.Linear(84, 10))


class GlobalAverage(nn.Module):
    def forward(self, x):
        return x.mean((2, 3))


def convolution(inputs, outputs, kernel, stride=1, groups=1, activation=None):
    """Convolution, batch norm, activation."""
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
              nn.BatchNorm2d(outputs)]
    return layers + ([activation(inplace=True)] if activation else [])


class ResidualBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.main = nn.Sequential(*convolution(inputs, outputs, 3, stride, activation=nn.ReLU),
                                  *convolution(outputs, outputs, 3))
        changes = stride != 1 or inputs != outputs
        self.shortcut = nn.Sequential(*convolution(inputs, outputs, 1, stride)) if changes else None

    def forward(self, x):
        y = self.main(x)
        return F.relu(y + (self.shortcut(x) if self.shortcut is not None else x), inplace=True)


def resnet18():
    """With the stem for 32 x 32 images."""
    layers, inputs = convolution(3, 64, 3, activation=nn.ReLU), 64
    for outputs, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2),
                            (512, 1)):
        layers.append(ResidualBlock(inputs, outputs, stride))
        inputs = outputs
    return nn.Sequential(*layers, GlobalAverage(), nn.Linear(512, 10))


class InvertedResidual(nn.Module):
    """Without squeeze-excite, ReLU6: EfficientNet-Lite's."""

    def __init__(self, inputs, outputs, kernel, stride, expansion):
        super().__init__()
        hidden, layers = inputs * expansion, []
        if expansion != 1:
            layers += convolution(inputs, hidden, 1, activation=nn.ReLU6)
        layers += convolution(hidden, hidden, kernel, stride, hidden, nn.ReLU6)
        self.main = nn.Sequential(*layers, *convolution(hidden, outputs, 1))
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.main(x)
        return x + y if self.residual else y


def efficientnet():
    layers, inputs = convolution(3, 32, 3, 2, activation=nn.ReLU6), 32
    for expansion, outputs, count, stride, kernel in (
            (1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
            (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)):
        for i in range(count):
            layers.append(InvertedResidual(inputs, outputs, kernel, stride if i == 0 else 1,
                                           expansion))
            inputs = outputs
    return nn.Sequential(*layers, *convolution(320, 1280, 1, activation=nn.ReLU6), GlobalAverage(),
                         nn.Linear(1280, 1000))


class ChannelNorm(nn.LayerNorm):
    """Layer norm over the channels of N, C, H, W."""

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class ConvNextBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, 1e-6)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scale = nn.Parameter(1e-6 * torch.ones(width))

    def forward(self, x):
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        y = self.scale * self.narrow(F.gelu(self.wide(y)))
        return x + y.permute(0, 3, 1, 2)


def convnext():
    widths = (96, 192, 384, 768)
    layers = [nn.Conv2d(3, 96, 4, 4), ChannelNorm(96, 1e-6)]
    for i, (width, count) in enumerate(zip(widths, (3, 3, 9, 3))):
        if i:
            layers += [ChannelNorm(widths[i - 1], 1e-6), nn.Conv2d(widths[i - 1], width, 2, 2)]
        layers += [ConvNextBlock(width) for _ in range(count)]
    return nn.Sequential(*layers, GlobalAverage(), nn.LayerNorm(768, 1e-6), nn.Linear(768, 1000))


def of_gallery(name):
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/parity"))
    import gallery
    for networks, shape in ((gallery.SMALL, (3, 32, 32)), (gallery.NNOTT, (1, 28, 28)),
                            (gallery.PUBLISHED, (3, 224, 224))):
        if name in dict(networks):
            return dict(networks)[name], shape, gallery.CLASSES, 0.9
    raise KeyError(name)


def lookup(name):
    if ":" in name:
        return of_gallery(name)
    return {
        "mlp": (mlp, (1, 28, 28), 10, 0.0),
        "lenet": (lenet, (1, 28, 28), 10, 0.0),
        "resnet18": (resnet18, (3, 32, 32), 10, 0.9),
        "efficientnet": (efficientnet, (3, 64, 64), 1000, 0.9),
        "convnext": (convnext, (3, 64, 64), 1000, 0.9),
    }[name]
