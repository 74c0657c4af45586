// A target needs a source; the module map in include is all there is.
