def mean(values)
    return 0
