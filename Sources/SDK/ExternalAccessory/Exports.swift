@_exported import ExternalAccessory
@_exported import Foundation
@_exported import WakeClient
@_exported import WakeFoundation
