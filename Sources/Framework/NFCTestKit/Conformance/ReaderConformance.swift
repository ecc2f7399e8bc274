// SPDX-License-Identifier: Apache-2.0
public import NFCSessions
public import TagLink
public import VirtualTags

/// The scenarios that must have the same result on every reader.
///
/// The author of a driver runs them with a model of the reader's hardware:
///
/// ```swift
/// @Test(arguments: ReaderConformance.scenarios)
/// func conforms(scenario: ReaderConformance.Scenario) async throws {
///     try await scenario.run(in: setup)
/// }
/// ```
public enum ReaderConformance {
    /// One use of one tag.
    public struct Scenario: Sendable, CustomStringConvertible {
        /// The use and the tag.
        public let name: String
        /// The capabilities that the scenario needs.
        public let needs: [ReaderCapability]
        let body: @Sendable (ConformanceStage) async throws -> Void

        init(
            _ name: String,
            needs: [ReaderCapability] = [],
            _ body: @escaping @Sendable (ConformanceStage) async throws -> Void
        ) {
            self.name = name
            self.needs = needs
            self.body = body
        }

        public var description: String { name }

        /// Runs the scenario.
        ///
        /// If the set-up lacks a capability, the scenario has to fail: the reader has to report that it can't do it, or
        /// must not find such tags.
        ///
        /// - Parameter setup: the reader and the field in front of it. It runs one scenario at a time.
        /// - Returns: why the reader can't run the scenario; nil when the scenario passed.
        /// - Throws: ``ConformanceFailure``.
        @discardableResult
        public func run(in setup: ReaderSetup) async throws -> String? {
            let missing = needs.first { setup.lacks[$0] != nil }
            let reason = missing.flatMap { setup.lacks[$0] }
            if let missing, case .technology(let technology) = missing {
                let looks = setup.makeEnvironment().driver?.technologies.contains(technology) ?? false
                if looks { throw ConformanceFailure(description: "The reader looks for \(missing), and yet lacks it.") }
                return reason
            }
            let stage = ConformanceStage(setup)
            let result = await Result { try await body(stage) }
            await stage.clear()
            if let missing {
                if case .failure(let error as ConformanceFailure) = result, error.isLimit { return reason }
                try result.get()
                throw ConformanceFailure(description: "The reader is said to lack \(missing), and it does not.")
            }
            try result.get()
            return nil
        }
    }

    /// All scenarios.
    public static let scenarios: [Scenario] = ConformanceTag.all.flatMap { scenarios(of: $0) } + commandScenarios
}

/// A capability that a scenario needs and that not every reader has.
public enum ReaderCapability: Sendable, Hashable, CustomStringConvertible {
    /// The reader looks for tags of a technology.
    case technology(Technology)
    /// The reader supports Type 1 tags.
    case type1
    /// The reader sends packets of the app to tags of a technology.
    case packets(Technology)
    /// The reader supports extended APDUs.
    case extendedAPDUs

    public var description: String {
        switch self {
        case .technology(let technology): "\(technology)"
        case .type1: "Type 1 tags"
        case .packets(let technology): "packets over \(technology)"
        case .extendedAPDUs: "extended APDUs"
        }
    }
}

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

/// Why a scenario failed.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// The difference, as a sentence.
    public var description: String
    /// Whether the reader reported that it does not support the request, or did not find such a tag.
    public var isLimit = false
}
