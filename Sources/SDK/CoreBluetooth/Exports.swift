@_exported import CoreBluetooth
@_exported import Foundation
@_exported import WakeClient
@_exported import WakeFoundation
