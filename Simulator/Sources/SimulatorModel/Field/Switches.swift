// SPDX-License-Identifier: Apache-2.0

/// What goes wrong on purpose.
public struct Switches: Sendable, Hashable {
    /// Whether the phone's radio for NFC is on. Off, a session ends with "radio disabled".
    public var radio = true
    /// Whether a session ends with 203, "system is busy".
    public var busy = false
    /// Whether the app has the entitlement for reading tags.
    public var entitlement = true
    /// Whether the app says in its Info.plist what it reads tags for.
    public var usageText = true
    /// How many of a thousand answers get lost or damaged.
    public var noise = 0.0
    /// Whether tags can be read, but lack the power to be written.
    public var weakField = false
    /// Whether answers come at once, rather than after their airtime.
    public var instant = false
    /// After how many more exchanges all tags leave; nil for never. It counts from when it is set or a tag is brought near,
    /// and is nil again when it has happened.
    public var leaveAfter: Int?
    /// Which write command from now on is torn, counted from 1; nil for none. It is nil again when it has happened.
    public var tearWrite: Int?
    /// Whether each scan is cancelled by the person as soon as the sheet is up.
    public var userCancels = false

    public init() {}

    /// Sets a switch.
    mutating func set(_ name: String?, _ value: JSON?) throws(SimulatorFailure) {
        let value = value ?? .null
        switch name {
        case "radio": radio = try Self.flag(value)
        case "busy": busy = try Self.flag(value)
        case "entitlement": entitlement = try Self.flag(value)
        case "usage_text": usageText = try Self.flag(value)
        case "weak_field": weakField = try Self.flag(value)
        case "instant": instant = try Self.flag(value)
        case "user_cancels": userCancels = try Self.flag(value)
        case "noise":
            guard let share = value.double, (0...1).contains(share) else {
                throw .invalid("The noise is a number from 0 to 1: the share of answers that are lost or damaged.")
            }
            noise = share
        case "leave_after": leaveAfter = try Self.count(value, from: 0)
        case "tear_write": tearWrite = try Self.count(value, from: 1)
        default:
            throw SimulatorFailure(
                "no-such-switch",
                "The switches are radio, busy, entitlement, usage_text, noise, weak_field, instant, leave_after, tear_write "
                    + "and user_cancels."
            )
        }
    }

    private static func flag(_ value: JSON) throws(SimulatorFailure) -> Bool {
        guard let flag = value.bool else { throw .invalid("This switch is true or false.") }
        return flag
    }

    private static func count(_ value: JSON, from least: Int) throws(SimulatorFailure) -> Int? {
        if value.isNull { return nil }
        guard let count = value.int, (least...1_000_000).contains(count) else {
            throw .invalid("This switch is a number from \(least) to 1000000, or null.")
        }
        return count
    }

    var json: JSON {
        [
            "radio": .bool(radio), "busy": .bool(busy), "entitlement": .bool(entitlement),
            "usage_text": .bool(usageText), "noise": .double(noise), "weak_field": .bool(weakField),
            "instant": .bool(instant), "leave_after": JSON(leaveAfter), "tear_write": JSON(tearWrite),
            "user_cancels": .bool(userCancels),
        ]
    }

    /// What an app learns of the switches.
    var forApps: JSON {
        [
            "event": "switches", "radio": .bool(radio), "busy": .bool(busy), "entitlement": .bool(entitlement),
            "usage_text": .bool(usageText), "instant": .bool(instant),
        ]
    }

    /// Restores what was saved. Values that are no longer valid are left out.
    init(_ saved: JSON) {
        for (name, value) in saved.object ?? [:] { try? set(name, value) }
    }
}
