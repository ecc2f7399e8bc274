// SPDX-License-Identifier: Apache-2.0
public import NFCLintEngine

/// All rules.
public enum Rules {
    /// The rules in order of their ids.
    public static let all: [Rule] = configuration + source

    /// Those of Info.plist and entitlements.
    static let configuration: [Rule] = [
        .cfg001, .cfg002, .cfg003, .cfg010, .cfg011, .cfg012, .cfg013, .cfg014, .cfg015, .cfg016, .cfg020, .cfg021,
        .cfg022, .cfg023, .cfg024, .cfg025, .cfg026, .cfg027, .cfg028, .cfg030, .cfg031, .cfg032, .cfg033, .cfg034,
        .cfg040, .cfg041, .cfg042,
    ]

    /// Those of sources.
    static let source: [Rule] = [
        .src001, .src002, .src003, .src004, .src005, .src006, .src007, .src008, .src009, .src010,
    ]

    /// The rule of an id, in any case; nil when there is none.
    public static func rule(_ id: String) -> Rule? { all.first { $0.id == id.uppercased() } }
}
