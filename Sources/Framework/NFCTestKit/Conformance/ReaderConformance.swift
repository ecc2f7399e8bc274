// SPDX-License-Identifier: Apache-2.0
public import NFCSessions
public import TagLink
public import VirtualTags

/// Test scenarios that must have the same result on every reader.
///
/// The author of a driver runs the scenarios with a model of the reader's hardware:
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
        /// If the set-up lacks a needed capability, the scenario has to fail: the reader must report that it does not
        /// support the request, or must not find such tags.
        ///
        /// - Parameter setup: the reader and its field. A set-up can run only one scenario at a time.
        /// - Returns: why the reader can't run the scenario; nil when the scenario passed.
        /// - Throws: ``ConformanceFailure``.
        @discardableResult
        public func run(in setup: ReaderSetup) async throws -> String? {
            let missing = needs.first { setup.lacks[$0] != nil }
            let reason = missing.flatMap { setup.lacks[$0] }
            if let missing, case .technology(let technology) = missing {
                let looks = setup.makeEnvironment().driver?.technologies.contains(technology) ?? false
                if looks { throw ConformanceFailure(description: "The reader looks for \(missing), but should not.") }
                return reason
            }
            let stage = ConformanceStage(setup)
            let result = await Result { try await body(stage) }
            await stage.clear()
            if let missing {
                if case .failure(let error as ConformanceFailure) = result, error.isLimit { return reason }
                try result.get()
                throw ConformanceFailure(description: "The set-up lacks \(missing), but the reader supports it.")
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

/// A reader and its field, for the scenarios of ``ReaderConformance``.
///
/// The set-up combines the reader's real driver with a model of the reader's hardware. The model has a `VirtualField`,
/// so that a scenario can bring tags near and take them away, even during a write.
public struct ReaderSetup: Sendable {
    /// The set-up's name, such as `.pn532`.
    public var name: String
    /// Creates an environment with the reader, real time, and its own queue of sessions.
    public var makeEnvironment: @Sendable () -> NFCEnvironment
    /// The reader's field.
    public var field: VirtualField
    /// The missing capabilities, each with the reason. A scenario that needs one of them has to fail with an error of
    /// the reader.
    public var lacks: [ReaderCapability: String]
    /// The maximum time to wait for an expected event, in real time.
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

    /// A set-up whose reader is the virtual field itself.
    public static var virtual: ReaderSetup {
        let field = VirtualField()
        return ReaderSetup(name: ".virtual", field: field) { NFCEnvironment(reader: .field(field)) }
    }
}

/// Why a scenario failed.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// A sentence about the difference from the expected result.
    public var description: String
    /// Whether the reader reported that it does not support the request, or did not find such a tag.
    public var isLimit = false
}
