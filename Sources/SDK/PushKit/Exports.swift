@_exported import Foundation
@_exported import PushKit
@_exported import WakeClient
@_exported import WakeFoundation
