#!/usr/bin/env bash
# seaborn's lineplot drops the rows without a value before it draws, so a series whose missing hours
# are stated as NaN gets one straight line across them; pandas' own plot leaves the hours blank.
#
# What it is: seaborn, charts of pandas tables, on matplotlib: lineplot with a time axis.
# Versions: seaborn 0.13.2, pandas 3.1.1, matplotlib 3.11.2 (PyPI).
# What the docs say: matplotlib's gallery ("Plotting masked and NaN values"): a line breaks at NaN.
#   The reference of lineplot does not mention missing values.
# Guess: asfreq('h') inserts NaN for the missing hours, and the line breaks there, as in pandas.
# Seen: of 10 hours, 4 of them NaN, lineplot passes 6 points on and no NaN, in one line; pandas
#   passes on 10 points, 4 of them NaN or masked.
# Wrong picture for a user: an outage looks like a steady rise or fall between its two edges.
# Instead: series.plot() of pandas, scatterplot, or lineplot with units= a number for each run of
#   hours and estimator=None, which draws each run apart.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install seaborn==0.13.2 pandas==3.1.1 matplotlib==3.11.2
cat > run.py <<'PY'
import matplotlib
matplotlib.use('Agg')
import matplotlib.pyplot as plt, numpy as np, pandas as pd, seaborn as sns
print('seaborn', sns.__version__, 'pandas', pd.__version__, 'matplotlib', matplotlib.__version__)
hours = pd.to_datetime([f'2026-01-01T{h:02}:00:00Z' for h in (0, 1, 2, 7, 8, 9)])
table = pd.DataFrame({'hour': hours, 'stars': [1.0, 2, 3, 8, 9, 10]}).set_index('hour').asfreq('h')
def look(axes):
    lines = [np.ma.masked_invalid(np.ma.array(line.get_ydata(), dtype=float)) for line in axes.lines]
    found = [(len(line), int(np.ma.getmaskarray(line).sum())) for line in lines if len(line) > 0]
    plt.close('all')
    return found
taken = look(sns.lineplot(data=table.reset_index(), x='hour', y='stars'))
own = look(table['stars'].plot())
runs = table.reset_index().assign(run=table['stars'].isna().cumsum().to_numpy()).dropna()
apart = look(sns.lineplot(data=runs, x='hour', y='stars', units='run', estimator=None))
print('points and NaN of lineplot      expected [(10, 4)] observed', taken)
print('points and NaN of pandas.plot   expected [(10, 4)] observed', own)
print('lineplot with a unit per run    expected two lines of 3, observed', apart)
same = taken == [(6, 0)] and own == [(10, 4)] and apart == [(3, 0), (3, 0)]
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
