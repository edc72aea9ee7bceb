"""What all PJRT backends share: lowering to StableHLO, compiling, arrays, devices."""
