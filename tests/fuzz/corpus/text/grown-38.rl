print 5 ) (i in 5) { i(i) }
{ s at it ws longho