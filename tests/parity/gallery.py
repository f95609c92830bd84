#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records what PyTorch computes for the gallery: tests/parity/gallery.txt.

The networks are torchvision's and timm's, changed for small pictures as core/models says, or are
written here from that description.  All are evaluated in f64, dropout and stochastic depth off.

    weight i of parameter k   as f32: bound (2 u - 1), where u = uniform(7, k, i) of
                              tenon-program(7) and bound = sqrt(6 / fan in), if the fan in, the
                              elements of one output, is above 1; else 0.5 + u where the name
                              ends in "weight" or "layer_scale", and 0.2 (u - 0.5) of the rest
    picture element i         cos(0.11 i)
    label n                   3 n + 1

Each network has a line of its name, channels, side, parameters, tensors and a hash of their names
and shapes; the logits of two pictures; the loss; and a line for each parameter's gradient: norm,
sum, and 16 elements, evenly spaced.

    python3 tests/parity/gallery.py > tests/parity/gallery.txt
    python3 tests/parity/gallery.py published > published.txt      the forms for 224x224 pictures,
                                                                   for a check by hand
Run with the newest torchvision and timm.
"""
import math
import sys

import numpy
import timm
import torch
import torchvision
from torch import nn
from torch.nn import functional as F

CLASSES, BATCH, ENTRIES = 10, 2, 16
tv = torchvision.models


# ---- random(seed, stream, i) --------------------------------------------------------------------

def uniform(seed, stream, n):
    """The first n: Philox4x32-10 of counter {i / 4, stream}, word i mod 4, 24 bits of it."""
    mask = numpy.uint64(0xffffffff)
    block = numpy.arange((n + 3) // 4, dtype=numpy.uint64)
    c = [block & mask, block >> numpy.uint64(32),
         numpy.full_like(block, stream & 0xffffffff), numpy.full_like(block, stream >> 32)]
    key = [seed & 0xffffffff, seed >> 32]
    for _ in range(10):
        a, b = c[0] * numpy.uint64(0xD2511F53), c[2] * numpy.uint64(0xCD9E8D57)
        c = [(b >> numpy.uint64(32)) ^ c[1] ^ numpy.uint64(key[0]), b & mask,
             (a >> numpy.uint64(32)) ^ c[3] ^ numpy.uint64(key[1]), a & mask]
        key = [(key[0] + 0x9E3779B9) & 0xffffffff, (key[1] + 0xBB67AE85) & 0xffffffff]
    words = numpy.stack(c, axis=1).reshape(-1)[:n]
    return (words >> numpy.uint64(8)).astype(numpy.float64) * 2.0 ** -24


def fill(model):
    with torch.no_grad():
        for k, (name, p) in enumerate(model.named_parameters()):
            u = uniform(7, k, p.numel())
            fan_in = p[0].numel()
            if fan_in > 1:
                values = math.sqrt(6 / fan_in) * (2 * u - 1)
            elif name.endswith("weight") or name.endswith("layer_scale"):
                values = 0.5 + u
            else:
                values = 0.2 * (u - 0.5)
            p.copy_(torch.from_numpy(values.astype(numpy.float32)).reshape(p.shape))


# ---- The published networks for small pictures --------------------------------------------------

def alexnet_features(channels, norm):
    layers, inputs = [], channels
    for outputs in (64, "pool", 192, "pool", 384, 256, 256, "pool"):
        if outputs == "pool":
            layers.append(nn.MaxPool2d(2))
            continue
        layers.append(nn.Conv2d(inputs, outputs, 3, padding=1))
        layers += [nn.BatchNorm2d(outputs)] * norm + [nn.ReLU()]
        inputs = outputs
    return nn.Sequential(*layers)


class Classified(nn.Module):
    """features, flatten, classifier"""
    def __init__(self, features, classifier):
        super().__init__()
        self.features, self.classifier = features, classifier

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def alexnet():
    return Classified(alexnet_features(3, 0), nn.Sequential(
        nn.Dropout(), nn.Linear(4096, 512), nn.ReLU(), nn.Dropout(), nn.Linear(512, 512),
        nn.ReLU(), nn.Linear(512, CLASSES)))


def vgg(name):
    return Classified(getattr(tv, name)().features, nn.Sequential(
        nn.Linear(512, 512), nn.ReLU(), nn.Dropout(), nn.Linear(512, 512), nn.ReLU(), nn.Dropout(),
        nn.Linear(512, CLASSES)))


def resnet(name):
    model = getattr(tv, name)(num_classes=CLASSES)
    model.conv1, model.maxpool = nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.Identity()
    return model


class CifarBlock(nn.Module):
    def __init__(self, inputs, outputs, projection):
        super().__init__()
        stride = 1 if inputs == outputs else 2
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.added = (outputs - inputs) // 2
        self.downsample = None
        if projection and stride == 2:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, 2, bias=False),
                                            nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        if self.downsample is not None:
            x = self.downsample(x)
        elif self.added:
            x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.added, self.added))
        return F.relu(x + y)


class CifarResNet(nn.Module):
    def __init__(self, layers, projection):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16)
        inputs = 16
        for stage, outputs in enumerate((16, 32, 64)):
            blocks = []
            for _ in range((layers - 2) // 6):
                blocks.append(CifarBlock(inputs, outputs, projection))
                inputs = outputs
            setattr(self, "layer%d" % (stage + 1), nn.Sequential(*blocks))
        self.fc = nn.Linear(64, CLASSES)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        return self.fc(self.layer3(self.layer2(self.layer1(x))).mean((2, 3)))


def mobilenet_v2():
    model = tv.mobilenet_v2(num_classes=CLASSES)
    model.features[0][0].stride = model.features[2].conv[1][0].stride = (1, 1)
    return model


def efficientnet_b0():
    model = tv.efficientnet_b0(num_classes=CLASSES)
    model.features[0][0].stride = model.features[2][0].block[1][0].stride = (1, 1)
    return model


def efficientnet_lite0():
    model = timm.create_model("efficientnet_lite0", num_classes=CLASSES)
    model.conv_stem.stride = model.blocks[1][0].conv_dw.stride = (1, 1)
    return model


def convnext_tiny():
    model = tv.convnext_tiny(num_classes=CLASSES)
    model.features[0][0] = nn.Conv2d(3, 96, 2, 2)
    return model


def densenet121():
    model = tv.densenet121(num_classes=CLASSES)
    model.features.conv0 = nn.Conv2d(3, 64, 3, 1, 1, bias=False)
    model.features.pool0 = nn.Identity()
    return model


def squeezenet1_1():
    model = tv.squeezenet1_1(num_classes=CLASSES)
    model.features[0] = nn.Conv2d(3, 64, 3, 1, 1)
    for layer in model.features:
        if isinstance(layer, nn.MaxPool2d):
            layer.ceil_mode = False
    return model


def vit(side, patch, classes):
    return tv.VisionTransformer(side, patch, 12, 3, 192, 768, num_classes=classes)


# ---- nnott's forms ------------------------------------------------------------------------------

def nnott_baseline():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Dropout(0.15), nn.Conv2d(64, 128, 3, padding=1), nn.BatchNorm2d(128), nn.LeakyReLU(.1),
        nn.MaxPool2d(2), nn.Dropout(0.25), nn.Flatten(), nn.Linear(6272, 256), nn.ReLU(),
        nn.Dropout(0.5), nn.Linear(256, CLASSES))


def nnott_lenet():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 120, 5), nn.ReLU(), nn.Flatten(), nn.Linear(120, 84), nn.ReLU(),
        nn.Linear(84, CLASSES))


def nnott_alexnet():
    return Classified(alexnet_features(1, 1), nn.Sequential(
        nn.Linear(2304, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU(),
        nn.Linear(512, CLASSES)))


def nnott_vgg16():
    layers, inputs = [], 1
    for group, (outputs, n) in enumerate(((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))):
        for _ in range(n):
            layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU()]
            inputs = outputs
        layers.append(nn.MaxPool2d(2, 2 if group < 3 else 1))
    return Classified(nn.Sequential(*layers), nn.Sequential(
        nn.Linear(512, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(),
        nn.Linear(4096, CLASSES)))


def with_biases(model):
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.Conv2d):
                setattr(module, name, nn.Conv2d(child.in_channels, child.out_channels,
                                                child.kernel_size, child.stride, child.padding))
    return model


def nnott_resnet18():
    model = resnet("resnet18")
    model.conv1, model.avgpool = nn.Conv2d(1, 64, 3, 1, 1, bias=False), nn.Identity()
    model.fc = nn.Sequential(nn.Linear(8192, 512), nn.ReLU(), nn.Linear(512, CLASSES))
    return with_biases(model)


class NnottMBConv(nn.Module):
    def __init__(self, inputs, outputs, expand, stride, kernel):
        super().__init__()
        hidden = inputs * expand
        layers = []
        if expand > 1:
            layers += [nn.Conv2d(inputs, hidden, 1), nn.BatchNorm2d(hidden), nn.SiLU()]
        layers += [nn.Conv2d(hidden, hidden, kernel, stride, kernel // 2, groups=hidden,
                             bias=False), nn.BatchNorm2d(hidden), nn.SiLU(),
                   torchvision.ops.SqueezeExcitation(hidden, hidden // 4, nn.SiLU),
                   nn.Conv2d(hidden, outputs, 1), nn.BatchNorm2d(outputs)]
        self.layers, self.adds = nn.Sequential(*layers), stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.layers(x) if self.adds else self.layers(x)


def nnott_efficientnet_lite0():
    layers, inputs = [nn.Conv2d(1, 32, 3, 1, 1), nn.BatchNorm2d(32), nn.SiLU()], 32
    for expand, outputs, n, stride, kernel in (
            (1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
            (6, 112, 3, 1, 5), (6, 192, 3, 2, 5), (6, 320, 1, 1, 3)):
        for i in range(n):
            layers.append(NnottMBConv(inputs, outputs, expand, 1 if i else stride, kernel))
            inputs = outputs
    return nn.Sequential(*layers, nn.Conv2d(320, 1280, 1), nn.BatchNorm2d(1280), nn.SiLU(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, CLASSES))


class LayerNorm2d(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class NnottBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(channels, channels, 7, padding=3, groups=channels, bias=False),
            LayerNorm2d(channels), nn.Conv2d(channels, 4 * channels, 1),
            nn.GELU(approximate="tanh"), nn.Conv2d(4 * channels, channels, 1))

    def forward(self, x):
        return x + self.layers(x)


def nnott_convnext_tiny():
    layers, inputs = [], 1
    for i, n in enumerate((3, 3, 6, 3)):
        outputs = 64 << i
        layers.append(nn.Conv2d(inputs, outputs, 2, 2) if i else nn.Conv2d(1, 64, 4, 2, 1))
        layers += [LayerNorm2d(outputs)] + [NnottBlock(outputs) for _ in range(n)]
        inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, CLASSES))


# ---- Recording ----------------------------------------------------------------------------------

SMALL = [("alexnet:small", alexnet)]
SMALL += [("%s:small" % n, lambda n=n: vgg(n))
          for n in ("vgg11", "vgg11_bn", "vgg13", "vgg13_bn", "vgg16", "vgg16_bn", "vgg19",
                    "vgg19_bn")]
SMALL += [("%s:small" % n, lambda n=n: resnet(n)) for n in ("resnet18", "resnet34", "resnet50")]
SMALL += [("resnet%d:%s" % (n, "projection" if p else "published"),
           lambda n=n, p=p: CifarResNet(n, p)) for n in (20, 32, 44, 56) for p in (0, 1)]
SMALL += [("%s:small" % f.__name__, f)
          for f in (mobilenet_v2, efficientnet_lite0, efficientnet_b0, convnext_tiny, densenet121,
                    squeezenet1_1)]
SMALL += [("vit_tiny:small", lambda: vit(32, 4, CLASSES))]
NNOTT = [("%s:nnott" % f.__name__.replace("nnott_", ""), f)
         for f in (nnott_baseline, nnott_lenet, nnott_alexnet, nnott_vgg16, nnott_resnet18,
                   nnott_efficientnet_lite0, nnott_convnext_tiny)]
PUBLISHED = [("%s:published" % n, lambda n=n: getattr(tv, n)(num_classes=CLASSES))
             for n in ("alexnet", "vgg11", "vgg11_bn", "vgg13", "vgg13_bn", "vgg16", "vgg16_bn",
                       "vgg19", "vgg19_bn", "resnet18", "resnet34", "resnet50", "mobilenet_v2",
                       "efficientnet_b0", "convnext_tiny", "densenet121", "squeezenet1_1")]
PUBLISHED += [("vit_tiny:published", lambda: vit(224, 16, CLASSES)),
              ("efficientnet_lite0:published",
               lambda: timm.create_model("efficientnet_lite0", num_classes=CLASSES))]


def fnv(lines):
    h = 0xcbf29ce484222325
    for byte in "".join(line + "\n" for line in lines).encode():
        h = (h ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return h


def numbers(values):
    return " ".join("%.8g" % v for v in values)


def record(name, make, channels, side):
    model = make()
    fill(model)
    model = model.double().eval()
    # Of nnott's forms the names are Tenon's own.
    tensors = list(model.named_parameters()) + list(model.named_buffers())
    named = ["" if name.endswith(":nnott") else n for n, _ in tensors]
    lines = [" ".join([n] + [str(d) for d in t.shape]) for n, (_, t) in zip(named, tensors)]
    parameters = list(model.parameters())
    print("network %s %d %d %d %d %016x" % (name, channels, side,
                                            sum(p.numel() for p in parameters), len(tensors),
                                            fnv(lines)))
    n = BATCH * channels * side * side
    x = torch.cos(.11 * torch.arange(n, dtype=torch.float64)).float().double()
    logits = model(x.reshape(BATCH, channels, side, side))
    loss = F.cross_entropy(logits, torch.tensor([3 * i + 1 for i in range(BATCH)]))
    loss.backward()
    print("logits", numbers(logits.flatten().tolist()))
    print("loss", numbers([loss.item()]))
    for p in parameters:
        g = p.grad.flatten()
        step = max(1, g.numel() // ENTRIES)
        print("gradient", numbers([g.norm().item(), g.sum().item()]),
              numbers(g[::step][:ENTRIES].tolist()))


def main():
    torch.set_num_threads(2)
    print("# Written by tests/parity/gallery.py with PyTorch %s, torchvision %s, timm %s: "
          "do not edit." % (torch.__version__, torchvision.__version__, timm.__version__))
    if sys.argv[1:] == ["published"]:
        for name, make in PUBLISHED:
            record(name, make, 3, 224)
    else:
        for name, make in SMALL:
            record(name, make, 3, 32)
        for name, make in NNOTT:
            record(name, make, 1, 28)


if __name__ == "__main__":
    main()
