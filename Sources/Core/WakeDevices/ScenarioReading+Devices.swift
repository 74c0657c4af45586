/// The section `devices` of a scenario.
extension ScenarioReading {
    func addDevices(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "a device of a scenario", keys: ["file", "name", "count", "phone"])
        if fields["phone"] != nil { return try addPhone(fields) }
        let fileNode = try fields.required("file")
        let path = try files.find(fileNode, "device file", isThere: files.isFile)
        let form = try DeviceFile.load(file: path) { (path) throws(FileError) in try files.read(path) }
        let count = try count(fields)
        let names = try deviceNames.add(fields["name"], default: stem(path), count: count, entry: fileNode)
        try checkTotal(devices.count + names.count, of: "devices", node)
        for (index, name) in names.enumerated() {
            devices.append(
                ScenarioDevice(
                    name: name,
                    group: count == nil ? name : String(name.prefix { $0 != "." }),
                    line: node.line,
                    column: node.column,
                    form: form.device.copy(index + 1).form
                )
            )
        }
    }
}
