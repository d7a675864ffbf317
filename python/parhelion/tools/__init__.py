"""What measures, compares, reports, places, profiles and partitions, around the library; all of it behind the command `parhelion`.

Rooms in order; each uses only those before it:

    cli            options, output, exit statuses: what every command has
    statistics     numbers in, numbers out
    records        what a run wrote, read back
    machine        what this machine and its builds offer (doctor, hosts)
    measuring      starts ranks for a job and follows their record
    documents      what a record tells: results, remarks, knees; the document of --json
    tables         the same for the terminal
    reporting      the same as HTML and Markdown (report)
    comparing      two sets of runs (compare, calibrate)
    runs           the store of runs, other benchmarks' output (runs)
    partitioning   meshes to index maps (partition, inspect)
    bench          one folder per benchmark, demo and matrix
    profiling      shares of perf's samples (profile)
    placing        the command around `parhelion.placement` (place)
    main           the root, which knows all commands
"""
