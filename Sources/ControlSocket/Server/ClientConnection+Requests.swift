import Foundation
import ServiceMesh

/// From a line to its one reply. Everything here runs on the reactor's thread but ``perform(_:as:on:in:)``.
extension ClientConnection {
    /// Takes one line. Whatever it holds is answered, now or by the task that it starts.
    /// - Parameter inline: whether that task may begin on this thread, after this returns.
    func receive(_ line: Span<UInt8>, inline: Bool) {
        var start = 0
        JSONSyntax.skipSpace(line, &start)
        guard start < line.count else { return }
        do {
            try take(try RequestLine(line), inline)
        } catch {
            write(OutgoingLine.fault(error))
        }
    }

    private func take(_ request: RequestLine, _ inline: Bool) throws(RequestFault) {
        guard let id = request.id else {
            guard request.method == BuiltIn.cancelMethod else {
                throw RequestFault(
                    .invalidRequest,
                    "A request has an id, so that its answer can be told from others; the only notification is "
                        + "\(BuiltIn.cancelMethod).")
            }
            cancel(try BuiltIn.cancelledID(request.params))
            return
        }
        if isRunning(id) {
            // Answered without the id: the client would take it for the reply to the request that runs.
            throw RequestFault(
                .invalidRequest, "A request with this id is still running; give each its own.",
                details: ["duplicateId": .string(String(decoding: id.token, as: UTF8.self))])
        }
        if let builtIn = BuiltIn(rawValue: request.method) {
            write(try builtIn.answer(id, request.params, on: self))
            return
        }
        guard !core.isDraining.load(ordering: .relaxed) else {
            write(OutgoingLine.error(id, Self.stopping))
            return
        }
        guard let endpoint = core.mesh.endpoint(request.method) else {
            throw RequestFault(.methodNotFound, core.discovery.explainUnknown(request.method), id: id)
        }
        start(request, id, endpoint, inline)
    }

    private func start(_ request: RequestLine, _ id: RequestID, _ endpoint: any Endpoint, _ inline: Bool) {
        switch begin(id, bytes: request.params.count, for: endpoint) {
        case .duplicate: return
        case .tooMany:
            let error = MeshError(
                .resourceExhausted,
                "\(core.limits.requestsInFlight) requests of this connection are running, which is the most. "
                    + "Wait for one to be answered.")
            write(OutgoingLine.error(id, error))
        case .accepted(let role, let hasRoom):
            let context = CallContext.root(
                mesh: core.mesh, role: role, isFromAfar: isFromDoor, caller: isFromDoor ? identifiedName : nil,
                deadline: request.deadlineMilliseconds.map(Deadline.after(milliseconds:)),
                trace: core.nextTrace())
            let params = request.params
            let files = request.wantsDescriptors ? OwnedFiles() : nil
            let task = Task(executorPreference: inline && hasRoom ? core.executor : nil) {
                await self.perform(params, as: id, on: endpoint, in: context, files, hasRoom: hasRoom)
            }
            attach(task, to: id)
        }
    }

    private func perform(
        _ params: Data, as id: RequestID, on endpoint: any Endpoint, in context: CallContext, _ files: OwnedFiles?,
        hasRoom: Bool
    ) async {
        let line: [UInt8]
        var sent: [OwnedFile] = []
        do {
            if !hasRoom { try await waitForRoom(for: id, until: context.deadline) }
            let result = try await endpoint.call(params: params, context: context, files: files) { update in
                try await self.writeUpdate(endpoint.replySize) {
                    try self.checkRole(for: endpoint)
                    let update = try update.encoded()
                    try self.checkSize(update.value)
                    return OutgoingLine.update(endpoint.method, id, update)
                }
            }
            (line, sent) = reply(id, result, files?.all ?? [])
            if let granted = core.configuration.grants[endpoint.method] { grant(granted, for: id) }
            if let identification = core.configuration.identifications[endpoint.method],
                let name = identification.name(result)
            {
                identify(as: name) { identification.standing(name) }
            }
            if let lowered = core.configuration.lowers[endpoint.method] { demote(.to(lowered)) }
        } catch let invalid as InvalidParams {
            line = OutgoingLine.fault(RequestFault(.invalidParams, invalid.description, id: id))
        } catch let error as MeshError {
            line = OutgoingLine.error(id, explain(error))
        } catch is CancellationError {
            line = OutgoingLine.error(id, explain(MeshError(describing: CancellationError())))
        } catch {
            line = OutgoingLine.fault(
                RequestFault(.internal, "Something went wrong inside: \(error). Please report it.", id: id))
        }
        finish(
            id, with: line, sent,
            orWhereForbidden: { OutgoingLine.error(id, Self.loss(of: endpoint, isRenewed: $0)) })
    }

    private func waitForRoom(for id: RequestID, until deadline: Deadline?) async throws {
        guard let deadline else { return try await waitForRoom(for: id, .page) }
        try await Deadline.enforce(deadline, on: core.mesh.clock) { try await self.waitForRoom(for: id, .page) }
    }

    private func reply(_ id: RequestID, _ result: Data, _ files: [OwnedFile]) -> (line: [UInt8], files: [OwnedFile]) {
        do {
            try checkSize(result)
            return (OutgoingLine.result(id, result, descriptors: files.count), files)
        } catch {
            return (OutgoingLine.error(id, error), [])
        }
    }

    /// An observation that began as a parent's does not go on for a kid.
    private func checkRole(for endpoint: any Endpoint) throws(MeshError) {
        guard role < endpoint.access else { return }
        throw Self.loss(of: endpoint, isRenewed: isRenewed)
    }

    private static func loss(of endpoint: any Endpoint, isRenewed: Bool) -> MeshError {
        isRenewed ? .renewed : MeshError(losing: endpoint.access, for: endpoint.method)
    }

    private func checkSize(_ value: Data) throws(MeshError) {
        guard value.count > core.limits.resultBytes else { return }
        throw MeshError(
            short: .size,
            "The answer has \(value.count) bytes, more than the \(core.limits.resultBytes) that are sent. "
                + "Ask for a smaller page.")
    }

    /// A request that was cancelled by the daemon's own end should not look as if the client had asked for it.
    private func explain(_ error: MeshError) -> MeshError {
        error.status == .cancelled && isShuttingDown ? Self.stopping : error
    }

    private static let stopping = MeshError(
        .unavailable, "The daemon is shutting down. Start it again and repeat the request.")
}

extension Endpoint {
    /// Of the reply that is made before anything else can be sent: an observation's comes at its end, and says little.
    var startSize: ReplySize { kind == .observation ? .single : replySize }
}
