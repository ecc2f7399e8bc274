// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundTagReading
import Foundation
import LinkDelivery
import LinuxSupport
import UniversalLinks

struct AssociationFileOptions: ParsableArguments {
    @Argument(help: "The association file, - for standard input, or a domain whose file was fetched.")
    var file: String

    enum Source: String {
        case file, site, local
        case standardInput = "standard-input"
    }

    /// Explains why there is no usable association file.
    struct Problem: Error {
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
    }

    struct Loaded {
        var source: Source
        var bytes: [UInt8] = []
        var domain: String?
        /// Findings about where the file is served, from the site's last answer.
        var findings: [LinkFinding] = []
        var file: Result<AssociationFile, Problem>

        init(_ source: Source, _ bytes: [UInt8], of domain: String? = nil) {
            self.source = source
            self.bytes = bytes
            self.domain = domain
            file = Result { () throws(AssociationFileError) in try AssociationFile(parsing: Data(bytes)) }
                .mapError { Problem("bad-file", $0.finding) }
        }

        init(_ source: Source, _ problem: Problem, of domain: String? = nil) {
            self.source = source
            self.domain = domain
            file = .failure(problem)
        }

        /// A note about the file's source; nil for a file named on the command line.
        var note: String? {
            switch source {
            case .file, .standardInput: nil
            case .site: "The file of \(domain ?? "the site"), as the site served it."
            case .local: "Developer mode: a local file replaces the file of \(domain ?? "the site")."
            }
        }
    }

    func load() throws -> Loaded {
        if file != "-", !FileManager.default.fileExists(atPath: file), let kept = try kept() { return kept }
        let limit = AssociationFile.maximumSize
        let source: Source = file == "-" ? .standardInput : .file
        do throws(StorageError) {
            return Loaded(source, try InputFile.named(file, limit: limit).readToEnd())
        } catch  where error.code == .tooLarge {
            let error = AssociationFileError(.tooLarge, "The file has more than \(limit) bytes, the maximum.")
            return Loaded(source, Problem("bad-file", error.finding))
        } catch {
            throw CommandFailure(
                "unreadable-file",
                "\(error.reason) Name an association file, a domain of nfc links list, or - for standard input."
            )
        }
    }

    /// Returns a domain's saved file, or why there is none; nil if the name is not a known domain.
    private func kept() throws -> Loaded? {
        guard let domain = HostName.ascii(file) else { return nil }
        let user = UserEnvironment()
        guard let association = try user.cache().association(of: domain) else {
            guard user.apps().apps.contains(where: { $0.linkedDomains.contains(domain) }) else { return nil }
            let text = "The file of \(domain) was not fetched yet. To get it: nfc links fetch \(domain)"
            return Loaded(.site, Problem("no-file", text), of: domain)
        }
        let source: Source = association.isLocal ? .local : .site
        let finding = association.failureParts.flatMap { LinkFinding.ofAnswer($0.code, reason: $0.reason) }
        var loaded: Loaded
        if let bytes = association.file {
            loaded = Loaded(source, bytes, of: domain)
        } else if let finding {
            loaded = Loaded(source, Problem("no-file", finding), of: domain)
        } else {
            let step = "To try again now: nfc links fetch \(domain) --force"
            let why = association.failure ?? "The site has no file."
            let text = "The association file of \(domain) is missing: \(why) \(step)"
            loaded = Loaded(source, Problem("no-file", text), of: domain)
        }
        loaded.findings = finding.map { [$0] } ?? []
        return loaded
    }
}
