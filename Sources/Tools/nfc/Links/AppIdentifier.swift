// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundTagReading

/// The app identifiers on the command line.
enum AppIdentifier {
    /// Refuses text that can't be an application identifier.
    static func validate(_ app: String) throws {
        guard !AppDescription.isIdentifier(app) else { return }
        throw ValidationError(
            "--app: '\(app)' can't be an application identifier, such as ABCDE12345.org.example.reader."
        )
    }
}
