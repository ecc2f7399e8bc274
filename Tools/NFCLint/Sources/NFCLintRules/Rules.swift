// SPDX-License-Identifier: Apache-2.0
public import NFCLintEngine

/// All rules.
public enum Rules {
    /// The rules in order of their ids.
    public static let all: [Rule] = associations + configuration + domains + files + source + tags + texts

    /// Those of Info.plist and entitlements.
    static let configuration: [Rule] = [
        .cfg001, .cfg002, .cfg003, .cfg010, .cfg011, .cfg012, .cfg013, .cfg014, .cfg015, .cfg016, .cfg020, .cfg021,
        .cfg022, .cfg023, .cfg024, .cfg025, .cfg026, .cfg027, .cfg028, .cfg030, .cfg031, .cfg032, .cfg033, .cfg034,
        .cfg040, .cfg041, .cfg042,
    ]

    /// Those of sources.
    static let source: [Rule] = [
        .src001, .src002, .src003, .src004, .src005, .src006, .src007, .src008, .src009, .src010, .src011, .src012,
        .src013, .src014, .src015, .src016, .src017, .src018, .src019, .src020, .src021, .src022, .src023, .src024,
        .src025, .src026, .src027, .src028, .src029, .src030, .src031, .src032, .src033,
    ]

    /// The rules about texts for people.
    static let texts: [Rule] = [
        .txt001, .txt002, .txt003, .txt004, .txt005, .txt006, .txt007, .txt008, .txt009, .txt010,
    ]

    /// Those of association files.
    static let associations: [Rule] = [
        .aasa001, .aasa002, .aasa003, .aasa004, .aasa005, .aasa006, .aasa007, .aasa008, .aasa009, .aasa010, .aasa011,
        .aasa012, .aasa013, .aasa014, .aasa015, .aasa016, .aasa017,
    ]

    /// Those of associated domains.
    static let domains: [Rule] = [
        .dom001, .dom002, .dom003, .dom004, .dom005, .dom006, .dom007, .dom008, .dom009, .dom010,
    ]

    /// That of files that can't be read.
    static let files: [Rule] = [.lnt001]

    /// The rules about contents of tags.
    static let tags: [Rule] = [
        .tag001, .tag002, .tag003, .tag004, .tag005, .tag006, .tag007,
    ]

    /// The rule of an id, in any case; nil when there is none.
    public static func rule(_ id: String) -> Rule? { all.first { $0.id == id.uppercased() } }
}
