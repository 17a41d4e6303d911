# Reads the tables that archive_month.py downloaded, with types, and draws the labels by hour into labels.png.
# In their directory: Rscript examples/archive/load.R
# A row exists only for what was observed. A line is drawn for each run of hours, so that none crosses a gap.

read_table <- function(name) {
  table <- read.csv(paste0(name, ".csv"), colClasses = c(day = "Date"))
  for (column in intersect(c("hour", "start", "end"), names(table))) {
    table[[column]] <- as.POSIXct(table[[column]], format = "%Y-%m-%dT%H:%M:%SZ", tz = "UTC")
  }
  table
}

labels <- read_table("labels-totals")
gaps <- subset(read_table("labels-gaps"), scope == "all")
cat(sprintf("%.1f applications an hour in %g observed hours; %.2f hours not observed\n",
            mean(labels$applications), sum(labels$observed_seconds) / 3600, sum(gaps$seconds) / 3600))

png("labels.png", width = 1200, height = 400)
plot(labels$hour, labels$applications, type = "n", xlab = "hour (UTC)", ylab = "label applications", ylim = c(0, max(labels$applications)))
if (nrow(gaps) > 0) rect(gaps$start, 0, gaps$end, max(labels$applications), col = "grey90", border = NA)
run <- cumsum(c(TRUE, diff(as.numeric(labels$hour)) > 3600))
for (own in split(labels, run)) lines(own$hour, own$applications, type = "o", pch = 20)
invisible(dev.off())
