// SPDX-License-Identifier: Apache-2.0
public import NFCRuntime
public import TagLink
public import VirtualTags

/// The scenarios that a session has to go through alike on every reader.
///
/// The author of a driver runs them over a model of the reader's hardware:
///
/// ```swift
/// @Test(arguments: ReaderConformance.scenarios)
/// func conforms(scenario: ReaderConformance.Scenario) async throws {
///     try await scenario.run(in: setup)
/// }
/// ```
public enum ReaderConformance {
    /// One flow with one tag.
    public struct Scenario: Sendable, CustomStringConvertible {
        /// What happens, and with which tag.
        public let name: String
        /// What it needs of the reader.
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

        /// Goes through the scenario.
        ///
        /// Where the set-up lacks what it needs, it has to fail because the reader says so, or does not look for such
        /// tags.
        ///
        /// - Parameter setup: the reader, and the field in front of it. One scenario at a time.
        /// - Returns: why the reader can't carry it; nil when it went through.
        /// - Throws: ``ConformanceFailure``.
        @discardableResult
        public func run(in setup: ReaderSetup) async throws -> String? {
            let stage = ConformanceStage(setup)
            let missing = needs.first { setup.lacks[$0] != nil }
            guard let missing, let reason = setup.lacks[missing] else {
                do {
                    try await body(stage)
                } catch {
                    await stage.clear()
                    throw error
                }
                await stage.clear()
                return nil
            }
            if case .technology(let technology) = missing {
                let looks = setup.makeEnvironment().driver?.technologies.contains(technology) ?? false
                if looks { throw ConformanceFailure(description: "The reader looks for \(missing), and yet lacks it.") }
                return reason
            }
            do {
                try await body(stage)
            } catch {
                await stage.clear()
                if error.isLimit { return reason }
                throw error
            }
            await stage.clear()
            throw ConformanceFailure(description: "The reader is said to lack \(missing), and it does not.")
        }
    }

    /// All scenarios.
    public static let scenarios: [Scenario] =
        ConformanceTag.all.flatMap { scenarios(of: $0) } + commandScenarios
}

extension Error {
    fileprivate var isLimit: Bool { (self as? ConformanceFailure)?.isLimit == true }
}

/// What a scenario of the conformance suite needs of a reader, beyond what every reader has.
public enum ReaderCapability: Sendable, Hashable, CustomStringConvertible {
    /// It looks for tags of a technology.
    case technology(Technology)
    /// It works with Type 1 tags.
    case type1
    /// It takes packets of the app's own for tags of a technology.
    case packets(Technology)
    /// Extended APDUs go through.
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

/// A reader, and the field in front of it: where the scenarios of ``ReaderConformance`` run.
///
/// The reader's driver is the real one; what is behind it is a model of its hardware over a `VirtualField`, so that tags
/// come, go and tear when a scenario says so.
public struct ReaderSetup: Sendable {
    /// The set-up's name, such as `.pn532`.
    public var name: String
    /// Makes surroundings with the reader, with real time and a turn of their own.
    public var makeEnvironment: @Sendable () -> NFCEnvironment
    /// The field in front of the reader.
    public var field: VirtualField
    /// What the reader does not have, and why. A scenario that needs it has to fail, and by the reader's own word.
    public var lacks: [ReaderCapability: String]
    /// How long anything is waited for, in real time.
    package var patience = Duration.seconds(120)

    /// Creates a set-up.
    ///
    /// - Parameters:
    ///   - name: the set-up's name.
    ///   - field: the field in front of the reader.
    ///   - lacks: what the reader does not have, and why.
    ///   - makeEnvironment: makes surroundings with the reader.
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

    /// The virtual field itself as the reader.
    public static var virtual: ReaderSetup {
        let field = VirtualField()
        return ReaderSetup(name: ".virtual", field: field) { NFCEnvironment(reader: .field(field)) }
    }
}

/// Why a scenario did not go as it has to.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// What was different, as a sentence.
    public var description: String
    /// Whether the reader said that it does not serve what was asked for, or did not find such a tag.
    public var isLimit = false
}
