# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Rows as they come, the table of what is asked, and both kept as text and JSON."""
import json
import math
import os
import re
import statistics

import load

# What is asked: text, pattern of the rows it speaks of, at least, goal.  Of several rows the
# geometric mean counts.
ASKED = [
    ("conv 3x3, 64 to 512 channels, b32: forward", r"conv forward 3x3 (\d+)-\1 .*b32$", 1.5, 2.5),
    ("the same: input gradient", r"conv dgrad 3x3 (\d+)-\1 .*b32$", 1.3, 2.0),
    ("the same: weight gradient", r"conv wgrad 3x3 (\d+)-\1 .*b32$", 1.1, 1.5),
    ("depthwise 7x7: weight gradient", r"depthwise wgrad 7x7 ", 5.0, 15.0),
    ("train MLP", r"train mlp b128$", 1.3, 2.0),
    ("train LeNet", r"train lenet b128$", 1.5, 3.0),
    ("train ResNet-18", r"train resnet18 b32$", 1.2, 1.6),
    ("train EfficientNet-like", r"train efficientnet b8$", 1.3, 2.0),
    ("train ConvNeXt-like", r"train convnext b8$", 1.2, 1.5),
    ("infer LeNet, batch 1", r"infer lenet b1$", 3.0, 8.0),
    ("infer ResNet-18, batch 1", r"infer resnet18 b1$", 1.1, 1.3),
    ("AdamW step, of the copy bandwidth", r"adamw 11M", 0.8, 0.95),
    ("peak memory of ResNet-18 training", r"memory train resnet18 b32$", 0.7, 0.5),
]


def judge(ratio, least, goal):
    better = (lambda a, b: a <= b) if goal < least else (lambda a, b: a >= b)
    return "goal" if better(ratio, goal) else "reached" if better(ratio, least) else "missed"


def comparison(ratio, least, goal):
    return "%s %g, goal %g" % ("at most" if goal < least else "at least", least, goal)


class Result:
    def __init__(self, machine, options):
        self.machine, self.rows, self.lines = machine, [], []
        self.mode = "quick" if options.quick else "full"
        self.settings = "%s, threads: %d, medians of %d windows" % (self.mode, options.threads,
                                                                   options.samples)
        if options.processor_time:
            self.settings += ", seconds of processor time"
        self.say("Tenon beside its rivals: " + self.settings)
        for key, value in machine.items():
            self.say("  %-12s %s" % (key, value))
        self.say("")
        self.say("%-46s %-9s %11s %11s %7s  %s" %
                 ("case", "unit", "Tenon", "rival", "ratio", "rival's name"))

    def say(self, text):
        self.lines.append(text)
        print(text, flush=True)

    def note(self, text):
        self.say("# " + text)

    def row(self, name, unit, tenon, rival, ratio, rival_name):
        self.rows.append({"case": name, "unit": unit, "tenon": tenon, "rival": rival,
                          "ratio": round(ratio, 3), "rival_name": rival_name})
        self.say("%-46s %-9s %11.4g %11.4g %7.2f  %s" %
                 (name, unit, tenon, rival, ratio, rival_name))

    def asked(self):
        """The table, one entry for each thing that is asked."""
        table = []
        for text, pattern, least, goal in ASKED:
            ratios = [row["ratio"] for row in self.rows
                      if re.match(pattern, row["case"]) and row["ratio"] > 0]
            if not ratios:
                table.append({"what": text, "asked": comparison(0, least, goal), "ratio": None,
                              "verdict": "not measured"})
                continue
            mean = math.exp(statistics.fmean(map(math.log, ratios)))
            table.append({"what": text, "asked": comparison(mean, least, goal),
                          "ratio": round(mean, 3), "cases": len(ratios),
                          "worst": max(ratios) if goal < least else min(ratios),
                          "verdict": judge(mean, least, goal)})
        return table

    def finish(self, peaks, others, folder):
        self.say("")
        self.say("%-46s %-24s %7s %7s %6s  %s" %
                 ("what is asked", "", "ratio", "worst", "cases", ""))
        table = self.asked()
        for entry in table:
            if entry["ratio"] is None:
                self.say("%-46s %-24s %7s %7s %6s  %s" %
                         (entry["what"], entry["asked"], "-", "-", "-", entry["verdict"]))
            else:
                self.say("%-46s %-24s %7.2f %7.2f %6d  %s" % (
                    entry["what"], entry["asked"], entry["ratio"], entry["worst"], entry["cases"],
                    entry["verdict"]))
        self.say("")
        self.say("the machine's peaks in this run                  best      median")
        for (name, unit), values in peaks.items():
            best = min(values) if unit == "us" else max(values)
            self.say("  %-40s %8.4g %10.4g %s" % (name, best, statistics.median(values), unit))
        doubts = load.doubts(others, peaks)
        self.doubt(doubts)
        if folder:
            self.keep(folder, table, peaks,
                      {"doubts": doubts, "others_busy": [round(n, 2) for n in others]})

    def doubt(self, doubts):
        """Marks the run, where something speaks against it."""
        for reason in doubts:
            self.say("BUSY MACHINE, these ratios prove nothing: " + reason)

    def keep(self, folder, table, peaks, load_found):
        model = re.sub(r"[^a-z0-9]+", "-",
                       self.machine["processor"].split(",")[0].lower()).strip("-")
        stem = os.path.join(folder, "%s-%s-%s" %
                            (re.sub(r"[ :]", "-", self.machine["date"][:16]), model, self.mode))
        os.makedirs(folder, exist_ok=True)
        with open(stem + ".txt", "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines) + "\n")
        with open(stem + ".json", "w", encoding="utf-8") as file:
            json.dump({"machine": self.machine, "settings": self.settings, "rows": self.rows,
                       "asked": table, "load": load_found,
                       "peaks": [{"name": n, "unit": u, "values": v}
                                 for (n, u), v in peaks.items()]}, file, indent=1)
            file.write("\n")
        print("\nkept in %s.txt and .json" % stem)
