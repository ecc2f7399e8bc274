// SPDX-License-Identifier: Apache-2.0

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
