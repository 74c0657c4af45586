// The first lines of this room come next.
