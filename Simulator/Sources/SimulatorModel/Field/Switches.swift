// SPDX-License-Identifier: Apache-2.0

/// The switches that cause errors on purpose.
public struct Switches: Sendable, Hashable {
    /// Whether the phone's NFC radio is on. If off, a session ends with "radio disabled".
    public var radio = true
    /// Whether sessions end with error 203, "system is busy".
    public var busy = false
    /// Whether the app has the entitlement for reading tags.
    public var entitlement = true
    /// Whether the app's Info.plist explains why it reads tags.
    public var usageText = true
    /// The fraction of answers, from 0 to 1, that get lost or damaged.
    public var noise = 0.0
    /// Whether the field is too weak to write tags, but strong enough to read them.
    public var weakField = false
    /// Whether answers arrive at once, without waiting for their airtime.
    public var instant = false
    /// After how many exchanges all tags leave; nil for never. The count starts when this is set or a tag is brought
    /// near. Reset to nil after the tags have left.
    public var leaveAfter: Int?
    /// Which of the next write commands is torn, counted from 1; nil for none. Reset to nil after the tear.
    public var tearWrite: Int?
    /// Whether the user cancels each scan as soon as the sheet appears.
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
                throw .invalid("The noise must be a number from 0 to 1: the share of answers that are lost or damaged.")
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
        guard let flag = value.bool else { throw .invalid("This switch must be true or false.") }
        return flag
    }

    private static func count(_ value: JSON, from least: Int) throws(SimulatorFailure) -> Int? {
        if value.isNull { return nil }
        guard let count = value.int, (least...1_000_000).contains(count) else {
            throw .invalid("This switch must be a number from \(least) to 1000000, or null.")
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

    /// The switches that apps are informed of.
    var forApps: JSON {
        [
            "event": "switches", "radio": .bool(radio), "busy": .bool(busy), "entitlement": .bool(entitlement),
            "usage_text": .bool(usageText), "instant": .bool(instant),
        ]
    }

    /// Restores saved switches. Ignores values that are no longer valid.
    init(_ saved: JSON) {
        for (name, value) in saved.object ?? [:] { try? set(name, value) }
    }
}
