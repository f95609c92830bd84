# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Whole networks beside PyTorch, a window each in turns."""
import os
import statistics

import process

TRAIN = [("mlp", 128), ("lenet", 128), ("resnet18", 32), ("efficientnet", 8), ("convnext", 8)]
INFER = [("lenet", 1), ("resnet18", 1), ("mlp", 1), ("lenet", 32), ("resnet18", 32),
         ("efficientnet", 1), ("efficientnet", 32), ("convnext", 1), ("convnext", 32)]
QUICK_INFER = 2  # of the list above
# The others of the gallery: each trains with this batch, and infers with it and with one image.
GALLERY = ["baseline:nnott", "alexnet:small", "vgg11:small", "vgg11_bn:small", "vgg13:small",
           "vgg13_bn:small", "vgg16:small", "vgg16_bn:small", "vgg19:small", "vgg19_bn:small",
           "resnet18:small", "resnet34:small", "resnet50:small", "resnet20:published",
           "resnet32:published", "resnet44:published", "resnet56:published", "mobilenet_v2:small",
           "efficientnet_lite0:small", "efficientnet_b0:small", "convnext_tiny:small",
           "densenet121:small", "squeezenet1_1:small", "vit_tiny:small"]
GALLERY_BATCH = 16


def take_turns(sides, samples, peaks):
    """Measures all sides in turns; one that fails is left out, with the reason.  peaks: None where
    processor time is measured, which the load of the machine hardly changes."""
    failures = []
    for sample in range(samples):
        if peaks and sample % 5 == 0:
            peaks.go()
        for side in list(sides):
            try:
                side.go()
            except RuntimeError as error:
                failures.append(str(error))
                sides.remove(side)
    return failures


def compare(what, model, batch, options, peaks, result):
    name = "%s %s b%d" % (what, model, batch)
    try:
        sides = [process.rival(what, model, batch, options.threads, *way)
                 for way in process.rival_ways(what)]
    except RuntimeError as error:
        result.note("%s: %s" % (name, str(error).splitlines()[-1]))
        return
    sides.insert(0, process.tenon(options.build, what, model, batch, options.threads))
    for failure in take_turns(sides, options.samples, None if options.processor_time else peaks):
        result.note("%s: %s" % (name, failure.splitlines()[-1]))
    memory = {side.name: side.end() for side in sides}
    medians = {side.name: statistics.median(side.rates) for side in sides}
    rivals = [n for n in medians if n != "Tenon"]
    if "Tenon" not in medians or not rivals:
        return
    for n in medians:
        result.note("%s: %s median %.1f, best %.1f images/s, peak %.0f MiB" % (
            name, n, medians[n], max(s for side in sides if side.name == n for s in side.rates),
            memory[n]))
    best = max(rivals, key=lambda n: medians[n])
    least = min(rivals, key=lambda n: memory[n])
    result.row(name, "images/s", medians["Tenon"], medians[best], medians["Tenon"] / medians[best],
               best)
    result.row("memory " + name, "MiB", memory["Tenon"], memory[least],
               memory["Tenon"] / memory[least], least)


def cases_of(what, options):
    cases = TRAIN if what == "train" else INFER[:QUICK_INFER] if options.quick else INFER
    if options.quick:
        return cases
    batches = (GALLERY_BATCH,) if what == "train" else (1, GALLERY_BATCH)
    return cases + [(model, batch) for model in GALLERY for batch in batches]


def run(what, options, peaks, result):
    if not os.path.exists(os.path.join(options.build, "bench", what)):
        result.note("bench/%s is not built, its networks are left out" % what)
        return
    for model, batch in cases_of(what, options):
        if options.filter in "%s %s b%d" % (what, model, batch):
            compare(what, model, batch, options, peaks, result)
