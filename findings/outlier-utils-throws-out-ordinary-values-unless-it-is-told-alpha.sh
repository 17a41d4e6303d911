#!/usr/bin/env bash
# outlier-utils tests for outliers at a significance of 0.95 unless it is given one: it finds some in 166 of 200 ordinary samples, and in
# the README's own list the 10 and a 9 beside the 50.
#
# What it is: the Smirnov-Grubbs test for Python, which takes outliers out of a series one after the other.
# Versions: outlier-utils 0.0.5 (PyPI), with numpy and scipy as they come.
# What the docs say: alpha is the "significance level"; the README gives alpha=0.05 in all its examples and does not name a default. The
#   function's signature has one, so that grubbs.max_test(data) works. A significance of 0.05 is what tests take by custom.
# Guess: without alpha the result is that of 0.05: [50] of [8, 9, 10, 50, 9], none of a sample of a normal distribution.
# Seen: [50, 10, 9]. Of 200 samples of 20 values from a normal distribution 15 have an "outlier" at 0.05, and 166 without alpha, three a
#   sample on average; in the other 34 there is none. (The two-sided test needs pandas, which the package does not ask for.)
# Why: DEFAULT_ALPHA is 0.95, the level of confidence, where the code takes the probability of a false alarm.
# Wrong for a user: "3 unusual hours today" on days like all others, and a baseline without its highest hours, whose mean and
#   deviation are too low, so that the next busy hour is an alert.
# Instead: alpha=0.05 at each call.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install --only-binary :all: outlier-utils==0.0.5 numpy==2.4.6 scipy==1.17.1
cat > run.py <<'PY'
from importlib.metadata import version
import numpy as np
from outliers import smirnov_grubbs as grubbs
print('outlier-utils', version('outlier-utils'), 'numpy', version('numpy'), 'scipy', version('scipy'))
show = lambda values: [int(v) for v in values]
with_alpha, without = show(grubbs.max_test_outliers([8, 9, 10, 50, 9], alpha=0.05)), show(grubbs.max_test_outliers([8, 9, 10, 50, 9]))
print('of 8 9 10 50 9: expected', with_alpha, 'observed without alpha', without)
random = np.random.default_rng(1); kept, kept_default, false_alarms = [], [], 0
for _ in range(200):
    hours = random.normal(100, 10, 20)
    kept.append(len(grubbs.max_test(hours, alpha=0.05))); kept_default.append(len(grubbs.max_test(hours))); false_alarms += kept_default[-1] < 20
print('of 20 ordinary values on average kept: alpha=0.05', np.mean(kept), ' without alpha', np.mean(kept_default), ' samples with an "outlier":', false_alarms, 'of 200, with 0.05', sum(k < 20 for k in kept))
hours = np.random.default_rng(2).normal(100, 10, 24)
print('a day of 24 hours, deviation', round(float(hours.std()), 1), 'kept at 0.05:', len(grubbs.max_test(hours, alpha=0.05)), ' without alpha:', len(grubbs.max_test(hours)), 'deviation', round(float(grubbs.max_test(hours).std()), 1))
same = with_alpha == [50] and without == [50, 10, 9] and np.mean(kept) > 19.5 and np.mean(kept_default) < 18 and false_alarms > 120 and sum(k < 20 for k in kept) < 30
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
