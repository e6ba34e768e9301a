package lock

// mostFiles returns how many lock files may stay open: there is no limit that a
// process would come near.
func mostFiles() int { return StripeCount }
