// A second file: of a target with one, SwiftPM asks for @main.

var launches = 0
