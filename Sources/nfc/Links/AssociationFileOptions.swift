// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import UniversalLinks

/// The association file that a command is about.
struct AssociationFileOptions: ParsableArguments {
    @Argument(help: "The association file; - for standard input.")
    var file: String

    /// Reads the file.
    func load() throws(CommandFailure) -> AssociationFile {
        let data: Data
        if file == "-" {
            data = Data(StandardInput.all())
        } else if let content = FileManager.default.contents(atPath: file) {
            data = content
        } else {
            throw CommandFailure(
                .usage,
                "no-file",
                "\(file) can't be read. Name an association file, or - for standard input."
            )
        }
        do throws(AssociationFileError) {
            return try AssociationFile(parsing: data)
        } catch {
            throw CommandFailure(.refused, "bad-file", error.reason)
        }
    }
}
