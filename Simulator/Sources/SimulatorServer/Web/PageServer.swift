// SPDX-License-Identifier: Apache-2.0
import FlyingFox
import FlyingSocks
import Foundation
import Glibc
import SimulatorModel

/// The sender of a request. The gate reports it in a header.
enum PageAccess: String {
    /// A page in the session. A request without the header may only load the page's files.
    case page
    /// A program of the same user, connected directly to the socket in the private folder. It may start programs.
    case local

    static let header = "X-Simulator-Access"
}

/// The web server behind the gate: serves the page, its WebSocket and files, and performs actions for local programs.
///
/// Its socket is in the private folder. Requests from browsers were already checked by the gate.
final class PageServer: Sendable {
    private let simulator: Simulator
    private let windows: Windows
    private let drawer: DrawerFolder
    private let files: PageFiles
    private let server: HTTPServer
    private let path: String
    private let guardian: PageGuard

    /// - Parameter path: the path of the server's socket.
    init(
        _ simulator: Simulator,
        windows: Windows,
        drawer: DrawerFolder,
        files: PageFiles,
        path: String,
        guardian: PageGuard
    ) {
        self.simulator = simulator
        self.windows = windows
        self.drawer = drawer
        self.files = files
        self.path = path
        self.guardian = guardian
        let configuration = HTTPServer.Configuration(
            address: sockaddr_un.unix(path: path),
            timeout: 30,
            sharedRequestBufferSize: 4096,
            logger: .disabled
        )
        server = HTTPServer(config: configuration)
    }

    /// Runs the server until the task is cancelled.
    func run() async throws {
        await server.appendRoute("*") { [weak self] request in
            guard let self else { return HTTPResponse(statusCode: .serviceUnavailable) }
            return await self.answer(request)
        }
        _ = unsafe unlink(path)
        try await server.run()
    }

    func stop() async { await server.stop() }

    func waitUntilListening() async throws { try await server.waitUntilListening() }

    // MARK: Requests

    private func answer(_ request: HTTPRequest) async -> HTTPResponse {
        let path = request.target.path()
        let isData = path == "/socket" || path == "/import" || path == "/do" || path.hasPrefix("/export/")
        let sender = request.headers[HTTPHeader(PageAccess.header)]
        guard isData else {
            var response = page(request, path)
            // Clear what another program on this port left in the browser. Cookies stay, with the person's settings.
            if path == "/", sender == nil { response.headers[HTTPHeader("Clear-Site-Data")] = #""cache", "storage""# }
            return response
        }
        guard let access = sender.flatMap(PageAccess.init(rawValue:)) else {
            return Self.text(.forbidden, PageGuard.Refusal.session.message)
        }
        switch (request.method, path) {
        case (.GET, "/socket"): return await socket(request)
        case (.POST, "/import"): return await importFile(request)
        case (.POST, "/do"): return await perform(request, access)
        case (.GET, _) where path.hasPrefix("/export/"): return export(String(path.dropFirst(8)), request)
        default: return Self.text(.methodNotAllowed, "This address does not support this method.")
        }
    }

    private func page(_ request: HTTPRequest, _ path: String) -> HTTPResponse {
        guard request.method == .GET || request.method == .HEAD else {
            return Self.text(.methodNotAllowed, "Pages can only be read.")
        }
        guard let file = files.file(path) else { return Self.text(.notFound, "This page does not exist.") }
        return Self.response(.ok, file.type, file.bytes)
    }

    private func socket(_ request: HTTPRequest) async -> HTTPResponse {
        let handler = MessageFrameWSHandler(handler: PageSocket(simulator, windows), frameSize: 1 << 20)
        guard let response = try? await WebSocketHTTPHandler(handler: handler).handleRequest(request) else {
            return Self.text(.badRequest, "This address accepts only WebSockets.")
        }
        return Self.secured(response)
    }

    private func body(_ request: HTTPRequest, limit: Int) async throws(SimulatorFailure) -> Data {
        guard let length = request.headers[.contentLength].flatMap({ Int($0) }), length <= limit else {
            throw SimulatorFailure("too-large", "A body can have at most \(limit) bytes, and needs a Content-Length.")
        }
        guard let data = try? await request.bodyData, data.count <= limit else {
            throw SimulatorFailure("too-large", "The file did not arrive completely.")
        }
        return data
    }

    /// Performs one action, for commands and tests without a WebSocket.
    private func perform(_ request: HTTPRequest, _ access: PageAccess) async -> HTTPResponse {
        do throws(SimulatorFailure) {
            let body = try await body(request, limit: Limits.action)
            guard let action = try? JSON(parsing: body) else {
                throw SimulatorFailure("bad-json", "The action is not JSON.")
            }
            switch access {
            case .page: try Self.checkPage(action)
            case .local where action["do"] == "address": return Self.json(["url": .string(guardian.makeAddress())])
            case .local: break
            }
            return Self.json(await saved(try simulator.perform(action)))
        } catch {
            return Self.failed(error)
        }
    }

    /// Refuses an action that contains a command. A page may only start apps on the phone, by their id.
    static func checkPage(_ action: JSON) throws(SimulatorFailure) {
        guard action["do"] == "start_app", action["command"] != nil else { return }
        throw SimulatorFailure("not-from-a-page", "The page can't start commands. Use: nfc simulator start COMMAND")
    }

    /// Waits until the changes of an action are saved.
    ///
    /// - Returns: the action's result, with `unsaved` if saving failed.
    private func saved(_ result: JSON) async -> JSON {
        await windows.flush()
        await drawer.settle()
        guard let problem = simulator.storageProblem, var members = result.object else { return result }
        members["unsaved"] = .string(problem)
        return .object(members)
    }

    private func importFile(_ request: HTTPRequest) async -> HTTPResponse {
        do throws(SimulatorFailure) {
            let data = try await body(request, limit: Limits.pageMessage)
            let name = request.query["name"] ?? "Imported tag"
            if let json = try? JSON(parsing: data), json["opencorenfc_simulator"] != nil {
                return Self.json(await saved(try simulator.perform(["do": "open", "file": json])))
            }
            return Self.json(await saved(try simulator.importFile(name: name, [UInt8](data))))
        } catch {
            return Self.failed(error)
        }
    }

    private func export(_ what: String, _ request: HTTPRequest) -> HTTPResponse {
        do throws(SimulatorFailure) {
            let file = try ExportFile(what, format: request.query["format"], simulator)
            var response = Self.response(.ok, file.type, Data(file.bytes))
            response.headers[HTTPHeader("Content-Disposition")] = "attachment; filename=\"\(file.name)\""
            return response
        } catch {
            return Self.failed(error)
        }
    }

    // MARK: Answers

    private static func text(_ status: HTTPStatusCode, _ text: String) -> HTTPResponse {
        response(status, "text/plain; charset=utf-8", Data((text + "\n").utf8))
    }

    private static func json(_ json: JSON) -> HTTPResponse {
        response(.ok, "application/json; charset=utf-8", Data(json.bytes))
    }

    private static func failed(_ failure: SimulatorFailure) -> HTTPResponse {
        let json: JSON = ["error": .string(failure.code), "message": .string(failure.message)]
        return response(.badRequest, "application/json; charset=utf-8", Data(json.bytes))
    }

    private static func response(_ status: HTTPStatusCode, _ type: String, _ body: Data) -> HTTPResponse {
        var response = HTTPResponse(statusCode: status, body: body)
        response.headers[.contentType] = type
        response.headers[HTTPHeader("Cache-Control")] = "no-store"
        // The gate forwards only one request per connection.
        response.headers[.connection] = "close"
        return secured(response)
    }

    private static func secured(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        for header in PageGuard.headers { response.headers[HTTPHeader(header.name)] = header.value }
        return response
    }
}
