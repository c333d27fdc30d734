
checkpoint < ;
