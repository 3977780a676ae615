"""What each of our programs takes before it is of use: time, CPU, memory. See `benchmarks.footprint`."""
