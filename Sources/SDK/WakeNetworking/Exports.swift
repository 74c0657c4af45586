@_exported import Foundation
// Weakly linked, here as in each file of the module: an app that calls nothing of it need not load it, and libcurl with it.
@_exported @_weakLinked import FoundationNetworking
