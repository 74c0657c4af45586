@_exported import CallKit
@_exported import Foundation
@_exported import WakeClient
@_exported import WakeFoundation
