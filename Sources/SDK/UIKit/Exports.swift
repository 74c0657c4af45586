@_exported import Foundation
@_exported import UIKit
@_exported import WakeClient
@_exported import WakeFoundation
@_exported import WakeNetworking
