# e

end%end
measure(fn() = 0).peak_bytes

