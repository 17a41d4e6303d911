# Draws the labels by hour into labels.svg; grey boxes are times that were not observed.
# In the directory of archive_month.py: gnuplot examples/archive/labels.gnuplot
# A box for each hour: a line would cross the hours that have no row.

set datafile separator ","
stats "labels-totals.csv" using 3 skip 1 nooutput name "most"
set xdata time
set timefmt "%Y-%m-%dT%H:%M:%SZ"
set format x "%d %b\n%H:%M"
set terminal svg size 1200,400
set output "labels.svg"
set yrange [0:*]
set xlabel "hour (UTC)"
set ylabel "label applications"
set style fill solid
set xrange [*:*]
plot "< awk -F, 'NR > 1 && $2 == \"all\"' labels-gaps.csv" \
       using (timecolumn(4)):(0):(timecolumn(4)):(timecolumn(6)):(0):(most_max) with boxxyerror \
       linecolor rgb "#dddddd" title "not observed", \
     "labels-totals.csv" using (timecolumn(2) + 1800):3:(3600) skip 1 with boxes \
       linecolor rgb "#1f5fa8" title "applications"
