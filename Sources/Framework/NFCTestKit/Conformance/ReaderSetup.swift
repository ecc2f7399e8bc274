// SPDX-License-Identifier: Apache-2.0
public import NFCSessions
public import VirtualTags

/// A reader and the field in front of it: the environment in which ``ReaderConformance`` runs its scenarios.
///
/// The reader's driver is the real one. Behind it is a model of the reader's hardware with a `VirtualField`, so that a
/// scenario can bring tags near, take them away and tear them out.
public struct ReaderSetup: Sendable {
    /// The set-up's name, such as `.pn532`.
    public var name: String
    /// Creates an environment with the reader. It has real time and its own queue of sessions.
    public var makeEnvironment: @Sendable () -> NFCEnvironment
    /// The field in front of the reader.
    public var field: VirtualField
    /// The missing capabilities, and why they are missing. A scenario that needs one has to fail, with the reader's own
    /// error.
    public var lacks: [ReaderCapability: String]
    /// The maximum time to wait for anything, in real time.
    package var patience = Duration.seconds(120)

    /// Creates a set-up.
    ///
    /// - Parameters:
    ///   - name: the set-up's name.
    ///   - field: the field in front of the reader.
    ///   - lacks: the missing capabilities, and why they are missing.
    ///   - makeEnvironment: creates an environment with the reader.
    public init(
        name: String,
        field: VirtualField,
        lacks: [ReaderCapability: String] = [:],
        makeEnvironment: @escaping @Sendable () -> NFCEnvironment
    ) {
        self.name = name
        self.field = field
        self.lacks = lacks
        self.makeEnvironment = makeEnvironment
    }

    /// A set-up with the virtual field as the reader.
    public static var virtual: ReaderSetup {
        let field = VirtualField()
        return ReaderSetup(name: ".virtual", field: field) { NFCEnvironment(reader: .field(field)) }
    }
}
