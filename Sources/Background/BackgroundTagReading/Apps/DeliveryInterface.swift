// SPDX-License-Identifier: Apache-2.0

/// The D-Bus interface by which an app receives the links of tags.
///
/// The app owns the bus name of its desktop entry, as `org.freedesktop.Application` requires, and has the object for
/// that name. `ContinueUserActivity(s activity_type, s webpage_url, ay ndef_message, a{sv} platform_data) → (b
/// handled)` passes a link with the bytes of the whole message. `platform_data` may contain `activation-token` (s) and
/// `desktop-startup-id` (s), as in the Desktop Entry Specification. For an app without the interface,
/// `org.freedesktop.Application.Open` is called with only the link.
public enum DeliveryInterface {
    /// The name of the interface.
    public static let name = "org.opencorenfc.UserActivity1"
    /// The name of the method.
    public static let method = "ContinueUserActivity"
    /// The signature of the method's arguments.
    public static let argumentSignature = "ssaya{sv}"
    /// The signature of the method's result.
    public static let answerSignature = "b"
    /// The interface and the method for an app without this interface.
    public static let fallback = (interface: "org.freedesktop.Application", method: "Open", signature: "asa{sv}")

    /// The interface in D-Bus introspection format.
    public static let introspection = """
        <interface name="org.opencorenfc.UserActivity1">
          <method name="ContinueUserActivity">
            <arg name="activity_type" type="s" direction="in"/>
            <arg name="webpage_url" type="s" direction="in"/>
            <arg name="ndef_message" type="ay" direction="in"/>
            <arg name="platform_data" type="a{sv}" direction="in"/>
            <arg name="handled" type="b" direction="out"/>
          </method>
        </interface>
        """

    /// Returns the object path of an app on the bus (Desktop Entry Specification 1.5, D-Bus Activation).
    ///
    /// - Parameter desktopID: the name of the desktop entry, which is the bus name.
    /// - Returns: the path; nil when the name can't be a bus name, because it has fewer than two elements or one starts
    ///   with a digit.
    public static func objectPath(of desktopID: String) -> String? {
        let elements = desktopID.split(separator: ".", omittingEmptySubsequences: false)
        guard elements.count >= 2, DesktopEntry.isName(desktopID),
            !elements.contains(where: { $0.first?.isNumber ?? true })
        else {
            return nil
        }
        return "/" + desktopID.replacing(".", with: "/").replacing("-", with: "_")
    }
}
