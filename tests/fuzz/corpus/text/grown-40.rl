# A &fncinotkhspee tt captred; (): 0 ={ 1
  map    # expect: 2
