import ExternalAccessory.EAAccessory
import ExternalAccessory.EAAccessoryManager

func names() -> [String] { EAAccessoryManager.shared().connectedAccessories.map(\.name) }
