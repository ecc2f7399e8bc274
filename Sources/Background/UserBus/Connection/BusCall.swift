// SPDX-License-Identifier: Apache-2.0

/// A method of an object on a bus, with its arguments.
package struct BusCall: Sendable {
    /// An interface of an object.
    package struct Object: Sendable {
        /// The name of the program that owns the object.
        package var destination: String
        /// The object's path.
        package var path: String
        /// The interface.
        package var interface: String

        /// Creates the name of an interface.
        package init(_ destination: String, _ path: String, _ interface: String) {
            self.destination = destination
            self.path = path
            self.interface = interface
        }

        /// The bus itself.
        package static let daemon = Object("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")

        /// The interface for the object's properties.
        package var properties: Object { Object(destination, path, "org.freedesktop.DBus.Properties") }
    }

    var object: Object
    var method: String
    var arguments: [BusValue]
    var destination: String { object.destination }

    /// Creates a call.
    package init(_ object: Object, _ method: String, _ arguments: [BusValue] = []) {
        self.object = object
        self.method = method
        self.arguments = arguments
    }
}
