// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundTagReading
import Foundation
import LinkDelivery
import LinuxSupport
import UniversalLinks

/// The association file that a command is about.
struct AssociationFileOptions: ParsableArguments {
    @Argument(help: "The association file, - for standard input, or a domain whose file was fetched.")
    var file: String

    enum Source: String {
        case file, site, local
        case standardInput = "standard-input"
    }

    /// Why there is no usable association file.
    struct Problem {
        var name: String
        var message: String
        var findings: [LinkFinding] = []

        init(_ name: String, _ message: String) {
            self.name = name
            self.message = message
        }

        init(_ name: String, _ finding: LinkFinding) {
            self.init(name, "\(finding.id): \(finding.message)")
            findings = [finding]
        }

        var failure: CommandFailure { CommandFailure(name, message) }
    }

    struct Loaded {
        var bytes: [UInt8] = []
        var source: Source
        /// The domain of the file; nil when it is not known.
        var domain: String?
        /// Why there is no file; nil when there is one.
        var problem: Problem?
        /// Findings about the file's place, from the site's last answer.
        var findings: [LinkFinding] = []

        /// A note for people about the file's source; nil for a file that they named.
        var note: String? {
            switch source {
            case .file, .standardInput: nil
            case .site: "The file of \(domain ?? "the site"), as the site served it."
            case .local: "Developer mode: a local file replaces the file of \(domain ?? "the site")."
            }
        }

        func parse() -> Result<AssociationFile, Problem> {
            if let problem { return .failure(problem) }
            do throws(AssociationFileError) {
                return .success(try AssociationFile(parsing: Data(bytes)))
            } catch {
                return .failure(Problem("bad-file", error.finding))
            }
        }
    }

    func load() throws -> Loaded {
        if file != "-", !FileManager.default.fileExists(atPath: file), let kept = try kept() { return kept }
        let limit = AssociationFile.maximumSize
        let source: Source = file == "-" ? .standardInput : .file
        do throws(StorageError) {
            return Loaded(bytes: try InputFile.named(file, limit: limit).readToEnd(), source: source)
        } catch  where error.code == .tooLarge {
            let error = AssociationFileError(.tooLarge, "The file has more than \(limit) bytes, the maximum.")
            return Loaded(source: source, problem: Problem("bad-file", error.finding))
        } catch {
            throw CommandFailure(
                "unreadable-file",
                "\(error.reason) Name an association file, a domain of nfc links list, or - for standard input."
            )
        }
    }

    func parse() throws -> (file: AssociationFile, from: Loaded) {
        let loaded = try load()
        switch loaded.parse() {
        case .success(let file): return (file, loaded)
        case .failure(let problem): throw problem.failure
        }
    }

    /// The saved file of a domain, or why there is none; nil for a name that is not a known domain.
    private func kept() throws -> Loaded? {
        guard let domain = HostName.ascii(file) else { return nil }
        let user = UserEnvironment()
        guard let known = try user.cache().association(of: domain) else {
            guard user.apps().apps.contains(where: { $0.linkedDomains.contains(domain) }) else { return nil }
            let text = "The file of \(domain) was not fetched yet. To get it: nfc links fetch \(domain)"
            return Loaded(source: .site, domain: domain, problem: Problem("no-file", text))
        }
        var loaded = Loaded(source: known.isLocal ? .local : .site, domain: domain)
        if let parts = known.failureParts, let finding = LinkFinding.ofAnswer(parts.code, reason: parts.reason) {
            loaded.findings = [finding]
        }
        if let bytes = known.file {
            loaded.bytes = bytes
        } else if let finding = loaded.findings.first {
            loaded.problem = Problem("no-file", finding)
        } else {
            let step = "To try again now: nfc links fetch \(domain) --force"
            let why = known.failure ?? "The site has none."
            loaded.problem = Problem("no-file", "There is no file of \(domain): \(why) \(step)")
        }
        return loaded
    }
}

extension AssociationFileOptions.Problem: Error {}
