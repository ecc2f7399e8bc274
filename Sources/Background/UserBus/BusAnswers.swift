// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading

/// Answers the calls of other programs on the bus, for the service that reads tags in the background.
package final class BusAnswers {
    private struct EarlyCall {
        var message: ReceivedMessage
        var id: String
    }

    private let status: () -> String
    private let open: (String) -> String
    private var earlyCalls: [EarlyCall] = []
    /// Whether the entries of the inbox and the link router are loaded.
    private var hasBegun = false
    private static let maximumEarlyCalls = 100

    /// - Parameters:
    ///   - status: returns the state of the service, as a JSON object.
    ///   - open: opens an entry, and returns one word that describes the result.
    package init(status: @escaping () -> String, open: @escaping (String) -> String) {
        self.status = status
        self.open = open
    }

    /// Answers the calls that waited until the inbox was loaded.
    package func begin() throws(BusError) {
        hasBegun = true
        let calls = earlyCalls
        earlyCalls = []
        for call in calls { try call.message.answer([.string(open(call.id))]) }
    }

    private static let objectPath = "/org/opencorenfc/Background"
    private static let interface = "org.opencorenfc.Background1"

    /// The interface in the format for introspection (D-Bus Specification 0.38, Introspection Data Format).
    private static let introspection = """
          <interface name="org.opencorenfc.Background1">
            <method name="Status">
              <arg name="status" type="s" direction="out"/>
            </method>
            <method name="Open">
              <arg name="entry" type="s" direction="in"/>
              <arg name="outcome" type="s" direction="out"/>
            </method>
          </interface>
          <interface name="org.freedesktop.DBus.Introspectable">
            <method name="Introspect">
              <arg name="data" type="s" direction="out"/>
            </method>
          </interface>
          <interface name="org.freedesktop.DBus.Peer">
            <method name="Ping"/>
            <method name="GetMachineId">
              <arg name="machine_uuid" type="s" direction="out"/>
            </method>
          </interface>
        """

    /// Returns the introspection data of an object; nil if it does not exist. Parents of the service's object do.
    private static func introspection(of path: String) -> String? {
        let contents: String
        if path == objectPath {
            contents = introspection
        } else {
            let above = path == "/" ? path : path + "/"
            guard objectPath.hasPrefix(above) else { return nil }
            let child = objectPath.dropFirst(above.count).prefix { $0 != "/" }
            contents = "  <node name=\"\(child)\"/>"
        }
        return """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>
            \(contents)
            </node>

            """
    }

    package func answer(_ message: ReceivedMessage) throws(BusError) {
        if message.name == "org.freedesktop.DBus.Introspectable.Introspect" {
            guard let text = Self.introspection(of: message.path) else { return try refuseObject(message) }
            guard message.arguments("") != nil else {
                return try message.refuse("InvalidArgs", "Introspect accepts no arguments.")
            }
            return try message.answer([.string(text)])
        }
        guard message.path == Self.objectPath else { return try refuseObject(message) }
        // A call may omit the interface.
        let name = message.name.hasPrefix(".") ? Self.interface + message.name : message.name
        switch name {
        case Self.interface + ".Status":
            guard message.arguments("") != nil else {
                return try message.refuse("InvalidArgs", "Status accepts no arguments.")
            }
            try message.answer([.string(status())])
        case Self.interface + ".Open":
            let argument = message.arguments("s")?.first?.text
            guard let id = argument, InboxEntry.ID(id) != nil else {
                return try message.refuse(
                    "InvalidArgs",
                    "Open accepts only the identifier of an entry, as shown by nfc inbox list."
                )
            }
            // Until then, the inbox and the link router are not loaded.
            guard hasBegun else {
                guard earlyCalls.count < Self.maximumEarlyCalls else {
                    return try message.refuse("LimitsExceeded", "The service is still starting.")
                }
                return earlyCalls.append(EarlyCall(message: message, id: id))
            }
            try message.answer([.string(open(id))])
        case _ where name.hasPrefix(Self.interface + "."):
            try message.refuse("UnknownMethod", "\(Self.interface) only has the methods Status and Open.")
        default:
            try message.refuse("UnknownInterface", "The object only has the interface \(Self.interface).")
        }
    }

    private func refuseObject(_ message: ReceivedMessage) throws(BusError) {
        try message.refuse("UnknownObject", "This object does not exist. The service's object is \(Self.objectPath).")
    }
}
