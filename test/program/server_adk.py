"""Sends the same requests to google-adk's own server and to the example server, and compares the replies.

    python server_adk.py URL      (the example server's, with --app secretary; a Python that has google-adk)

google-adk's server runs in this process, with services in memory and an agent whose model is the same script. What
differs by nature is left out: ids, times, the scheme of an artifact's address.
google-adk's own client then talks to the example server. Prints what it compared; exits with 1 after a difference.
"""

import asyncio
import json
import logging
import os
import re
import socket
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

os.environ['ADK_SUPPRESS_EXPERIMENTAL_FEATURE_WARNINGS'] = '1'
AGENT = '''
import json
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.genai import types

def content(**part):
  return types.Content(role='model', parts=[types.Part(**part)])

class Script(BaseLlm):
  async def generate_content_async(self, llm_request, stream=False):
    instruction = llm_request.config.system_instruction.split('\\n')[0]
    parts = llm_request.contents[-1].parts
    text = ''.join(part.text or '' for part in parts)
    if parts[-1].function_response:
      text = 'Noted. ' + instruction
    elif text.startswith('note '):
      yield LlmResponse(content=content(function_call=types.FunctionCall(name='note', args={'note': text[5:]})))
      return
    else:
      text += ' ' + instruction
    if stream:
      for piece in text.split(' '):
        yield LlmResponse(partial=True, content=content(text=piece))
    yield LlmResponse(content=content(text=text))

def note(note: str, tool_context):
  """Notes something."""
  tool_context.state['user:notes'] = tool_context.state.get('user:notes', []) + [note]

def instruction(context):
  notes = context.state.get('user:notes')
  return 'Notes: %s.' % ('' if notes is None else json.dumps(notes, separators=(',', ':'), ensure_ascii=False))

root_agent = LlmAgent(name='secretary', model=Script(model='script'), description='Repeats, and takes notes.',
                      instruction=instruction, tools=[note], output_key='last_answer')
'''


def start_adk(folder):
  """Starts google-adk's server in a thread, as `adk web` does. Returns its URL."""
  import uvicorn
  from google.adk.cli.fast_api import get_fast_api_app

  agents = os.path.join(folder, 'secretary')
  os.mkdir(agents)
  with open(os.path.join(agents, 'agent.py'), 'w') as file:
    file.write(AGENT.replace('tool_context):', 'tool_context: ToolContext):').replace(
        'from google.genai', 'from google.adk.tools import ToolContext\nfrom google.genai', 1))
  with open(os.path.join(agents, '__init__.py'), 'w') as file:
    file.write('from . import agent\n')
  app = get_fast_api_app(agents_dir=agents, web=True, session_service_uri='memory://',
                         artifact_service_uri='memory://', memory_service_uri='memory://',
                         allow_origins=ORIGINS, bind_host='127.0.0.1')
  listener = socket.socket()
  listener.bind(('127.0.0.1', 0))
  server = uvicorn.Server(uvicorn.Config(app, log_level='critical'))
  threading.Thread(target=server.run, kwargs={'sockets': [listener]}, daemon=True).start()
  while not server.started:
    time.sleep(0.05)
  return 'http://127.0.0.1:%d' % listener.getsockname()[1]


ORIGINS = ['https://one.example', r'regex:https://.*\.two\.example']
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), type(
    'NoRedirect', (urllib.request.HTTPRedirectHandler,), {'redirect_request': lambda *_: None}))
HEADERS = ('content-type', 'allow', 'location', 'access-control-allow-origin', 'access-control-allow-credentials',
           'access-control-allow-methods', 'access-control-allow-headers', 'access-control-max-age', 'vary')


def send(url, method, path, body=None, headers=()):
  """Returns the status, the headers that matter and the body, with JSON and server-sent events read."""
  data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
  headers = {'Content-Type': 'application/json', **dict(headers)} if data is not None else dict(headers)
  request = urllib.request.Request(url + path, data, headers, method=method)
  try:
    reply = OPENER.open(request, timeout=60)
  except urllib.error.HTTPError as error:
    reply = error
  text = reply.read().decode()
  kept = {name: reply.headers[name] for name in HEADERS if reply.headers[name]}
  if kept.get('content-type') == 'application/json':
    text = json.loads(text) if text else text  # HEAD
  elif kept.get('content-type', '').startswith('text/event-stream'):
    text = [json.loads(line[6:]) for line in text.splitlines() if line.startswith('data: ')]
  return reply.status, kept, text


# ------------------------------------------------------------------------------------------------- differences

UUID = re.compile('(e-|adk-|p-)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
TIMES = ('timestamp', 'lastUpdateTime', 'createTime')


def normal(value, key=None):
  """The value without what differs by nature."""
  if key in TIMES:
    assert isinstance(value, (int, float)), (key, value)
    return 'a time'
  if isinstance(value, dict):
    return {name: normal(item, name) for name, item in value.items()}
  if isinstance(value, list):
    return [normal(item, key) for item in value]
  if isinstance(value, str):
    value = re.sub('^(memory|artifact)://', 'artifact://', value)
    return UUID.sub('an id', value) if key in ('id', 'invocationId') else value
  return value


def events(reply):
  """Pieces of an answer as one text: the model's cut it as they like, and only google-adk's have the state already."""
  pieces = [event for event in reply if event.get('partial')]
  text = ''.join(part['text'] for event in pieces for part in event['content']['parts'])
  return [text.replace(' ', '')] + [event for event in reply if not event.get('partial')]


def details(reply):
  """What is wrong with a request, without the words of Python's reader of JSON, and what the request was."""
  detail = reply.get('detail')
  if isinstance(detail, list):
    return [(item['type'], [place for place in item['loc'] if item['type'] != 'json_invalid'],
             item['msg'].split(':')[0]) for item in detail]
  return detail.split(':')[0] if isinstance(detail, str) else reply


def place(ours, theirs, path=''):
  """Where two values differ, for the message."""
  if isinstance(ours, dict) and isinstance(theirs, dict):
    for name in sorted({*ours, *theirs}):
      if ours.get(name) != theirs.get(name):
        return place(ours.get(name), theirs.get(name), path + '.' + name)
  if isinstance(ours, list) and isinstance(theirs, list):
    for index, pair in enumerate(zip(ours, theirs)):
      if pair[0] != pair[1]:
        return place(*pair, '%s[%d]' % (path, index))
    return '%s: %d elements, not %d' % (path, len(ours), len(theirs))
  return '%s: %r, not %r' % (path, ours, theirs)


# The same to a browser: ours and theirs.
UNLIKE_HEADERS = {
    'access-control-allow-methods': ('DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT',
                                     'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT, QUERY'),
    'vary': ('Origin', 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers, '
             'Access-Control-Request-Private-Network'),
}


def compare(ours, theirs):
  """Returns what differs, or None."""
  if ours[0] != theirs[0]:
    return 'status'
  if ours[0] == 405:
    allowed = [reply[1].get('allow', '').replace('HEAD', '').strip(', ') for reply in (ours, theirs)]
    ours[1]['allow'], theirs[1]['allow'] = (set(re.split(', *', text)) & set(re.split(', *', allowed[1])) for text in allowed)
  for name, values in UNLIKE_HEADERS.items():
    for reply, value in zip((ours, theirs), values):
      if reply[1].get(name) == value:
        reply[1][name] = values[0]
  if ours[0] == 403:
    ours[1].pop('vary', None)
  if ours[1] != theirs[1]:
    return 'headers'
  bodies = [normal(reply[2]) for reply in (ours, theirs)]
  if ours[1].get('content-type', '').startswith('text/event-stream'):
    bodies = [events(body) for body in bodies]
  if ours[0] >= 400 and isinstance(bodies[0], dict):
    bodies = [details(body) for body in bodies]
  return place(*bodies, 'body') if bodies[0] != bodies[1] else None


# ---------------------------------------------------------------------------------------------------- requests

USER = '/apps/secretary/users/ann'
SESSIONS = USER + '/sessions'
ARTIFACTS = SESSIONS + '/s1/artifacts'
FULL_EVENT = {'id': 'e1', 'invocation_id': 'i1', 'timestamp': 5.5, 'author': 'secretary', 'branch': 'a.b',
              'custom_metadata': {'k': 1, '__adk_internal_x': 2},
              'content': {'role': 'model', 'parts': [{'functionCall': {'id': 'c', 'name': 'f',
                                                                       'args': {'n': 12345678901234567890}}}]}}


def run(**members):
  return {'appName': 'secretary', 'userId': 'ann', 'sessionId': 's1', **members}


def say(*texts, **members):
  return run(newMessage={'role': 'user', 'parts': [{'text': text} for text in texts]}, **members)


def requests():
  """All requests, in order: method, path, body, headers."""
  yield from about()
  yield from sessions()
  yield from runs()
  yield from artifacts()
  yield from wrong()
  yield from origins()


def about():
  for path in ('/health', '/list-apps', '/list-apps?detailed=false', '/list-apps?detailed=true', '/nothing', '/list-apps/x',
               '/', '/dev-ui', '/dev-ui/none.js', '/dev-ui/config', '/dev/apps/secretary/eval_sets',
               '/dev/apps/secretary/eval_results', '/dev/apps/secretary/debug/trace/session/s1',
               '/dev/apps/secretary/debug/trace/e1', '/dev/apps/secretary/builder'):
    yield 'GET', path
  for method, path in (('PUT', '/list-apps'), ('DELETE', '/run'), ('GET', '/run_sse'), ('PUT', SESSIONS), ('POST', '/health'),
                       ('PATCH', ARTIFACTS)):
    yield method, path


def sessions():
  yield 'GET', SESSIONS
  yield 'POST', SESSIONS + '/s1', {'a': 1, 'user:u': 'x', 'app:p': [1.5], 'temp:t': 1}
  yield 'POST', SESSIONS + '/s1', {}
  yield 'POST', SESSIONS + '/empty'
  yield 'POST', SESSIONS, {'sessionId': 's2', 'state': {'k': [1, {'z': None}]}, 'events': [
      {'author': 'user', 'content': {'parts': [{'text': 'old'}]}}, FULL_EVENT, {'author': 'user', 'actions': {}}]}
  yield 'POST', SESSIONS, {'session_id': 's3', 'events': []}
  yield 'POST', SESSIONS, {'sessionId': 's2'}
  yield 'POST', SESSIONS, {'sessionId': 's9', 'options': {'ttl': 1}}
  yield 'POST', SESSIONS, {'sessionId': 's9', 'events': [{'author': 'u', 'actions': {'stateDelta': {'x': 1}}}]}
  yield 'POST', SESSIONS, {'sessionId': 's9', 'events': [{'author': 'u', 'longRunningToolIds': ['a']}]}
  yield 'POST', SESSIONS, {'sessionId': 's9', 'events': [{'author': 'u'}, 5]}
  yield 'POST', SESSIONS, {'sessionId': 's9', 'events': [{'author': 'u', 'content': {'parts': [
      {'functionCall': {'name': 'adk_request_credential', 'args': {}}}]}}]}
  for body in (None, b'null', {}, {'sessionId': ''}, {'sessionId': ' '}, {'state': None}):
    yield 'POST', '/apps/secretary/users/made/sessions', body
  for body in (5, [], {'sessionId': 5}, {'state': []}, {'events': {}}, {'sessionId': {}, 'state': 'x'}, b'{"a"', b'{} x'):
    yield 'POST', SESSIONS, body if isinstance(body, bytes) else json.dumps(body).encode()
  for session in ('s1', 's2', 's9', 'empty'):
    yield 'GET', SESSIONS + '/' + session
  yield 'PATCH', SESSIONS + '/s9', {'stateDelta': {'a': 1}}
  yield 'PATCH', SESSIONS + '/s2', {'stateDelta': {'a': 1.25, 'user:b': 2, 'k': None, 'app:n': {'deep': [[]]}}}
  yield 'PATCH', SESSIONS + '/s2', {'state_delta': {}}
  for body in ({}, {'stateDelta': 5}, {'stateDelta': None}, [], 'text'):
    yield 'PATCH', SESSIONS + '/s2', body
  yield 'PATCH', SESSIONS + '/s2'
  yield 'GET', SESSIONS
  yield 'DELETE', SESSIONS + '/s9'
  yield 'DELETE', SESSIONS + '/s2'
  yield 'GET', SESSIONS + '/s2'
  yield 'GET', '/apps/other/users/%C3%BC%20x/sessions'
  yield 'POST', '/apps/other/users/%C3%BC%20x/sessions', {'sessionId': 'a b'}
  yield 'GET', '/apps/other/users/%C3%BC%20x/sessions/a%20b'


def runs():
  yield 'POST', '/run', say('Hello')
  yield 'POST', '/run', say('note buy "tea"', stateDelta={'x': 2, 'temp:q': 1, 'user:y': [1]})
  yield 'POST', '/run_sse', say('note \u00fc\u4e00\u0001', customMetadata={'k': 'v', '__adk_internal_x': 1})
  yield 'POST', '/run_sse', say('in pieces', streaming=True)
  yield 'POST', '/run_sse', say('a flag', streaming='yes')
  yield 'POST', '/run', say('one', 'two')
  yield 'POST', '/run', run()
  yield 'POST', '/run', run(newMessage={'role': 'model', 'parts': []}, stateDelta=None)
  yield 'POST', '/run', run(newMessage={'role': 'model', 'parts': [{'text': 'whose?'}]})
  yield 'POST', '/run', {'app_name': 'secretary', 'user_id': 'ann', 'session_id': 's1',
                         'new_message': {'parts': [{'text': 'snake'}]}, 'state_delta': {'s': 1}}
  yield 'POST', '/run', {'userId': 'ann', 'sessionId': 's1', 'newMessage': {'parts': [{'text': 'default app'}]}}
  yield 'GET', SESSIONS + '/s1'
  for path in ('/run', '/run_sse'):
    yield 'POST', path, say('x', sessionId='none')
    yield 'POST', path, say('x', userId='bob')
    yield 'POST', path, say('x', appName='none')
    for body in ({}, [], 5, {'userId': 1, 'session_id': None, 'streaming': 'maybe', 'stateDelta': [], 'newMessage': 5},
                 run(streaming=None), run(streaming=[]), run(customMetadata=1)):
      yield 'POST', path, json.dumps(body).encode()
    yield 'POST', path, run(newMessage={'parts': 5})
    yield 'POST', path, run(newMessage={'parts': [{'text': 'x'}, 5]})
    yield 'POST', path, b'{'
    yield 'POST', path
    yield 'POST', path, say('x'), {'Content-Type': 'text/plain'}


def artifacts():
  yield 'GET', ARTIFACTS
  for name, artifact, metadata in (
      ('a/b.txt', {'text': 'hello \u4e00'}, None),
      ('p.png', {'inlineData': {'data': 'aGVsbG8=', 'mimeType': 'image/png', 'displayName': 'P'}}, {'k': [1]}),
      ('p.png', {'inline_data': {'data': '_-8=', 'mime_type': 'image/png'}}, {}),
      ('user:u.txt', {'text': 'mine'}, None),
      ('f', {'fileData': {'fileUri': 'gs://x/y', 'mimeType': 'text/plain'}}, None),
      ('none', {}, None),
      ('p.png', {'inlineData': {'data': '!!', 'mimeType': 'image/png'}}, None),
      ('r', {'fileData': {'fileUri': 'artifact://apps/secretary/users/ann/sessions/s1/artifacts/p.png/versions/0'}}, None)):
    yield 'POST', ARTIFACTS, {'filename': name, 'artifact': artifact, 'customMetadata': metadata}
  yield 'POST', SESSIONS + '/later/artifacts', {'filename': 'z', 'artifact': {'text': 'of no session'}}
  for body in ({'artifact': {'text': 'x'}}, {'filename': 'x'}, {'filename': 5, 'artifact': 5}, [], None):
    yield 'POST', ARTIFACTS, body
  yield 'GET', ARTIFACTS
  for path in ('p.png', 'p.png/versions', 'p.png/versions/0', 'p.png/versions/latest', 'p.png/versions/7', 'p.png/versions/x',
               'p.png/versions/-1', 'p.png/versions/metadata', 'p.png/versions/0/metadata',
               'p.png/versions/latest/metadata', 'p.png/versions/x/metadata', 'p.png/versions/9/metadata', 'p.png?version=0',
               'p.png?version=9', 'p.png?version=x', 'a/b.txt', 'a%2Fb.txt', 'a/b.txt/versions', 'a/b.txt/versions/0/metadata',
               'none', 'none/versions', 'none/versions/metadata', 'none/versions/0/metadata', 'user:u.txt',
               'user%3Au.txt/versions/metadata', 'f', 'r', 'r/versions/metadata', 'versions', 'versions/0'):
    yield 'GET', ARTIFACTS + '/' + path
  yield 'GET', SESSIONS + '/later/artifacts'
  yield 'DELETE', ARTIFACTS + '/p.png'
  yield 'DELETE', ARTIFACTS + '/a/b.txt'
  yield 'DELETE', ARTIFACTS + '/none'
  yield 'GET', ARTIFACTS


def wrong():
  yield 'GET', '/apps/secretary'
  yield 'BREW', '/health'
  yield 'OPTIONS', '/health'
  yield 'GET', '/apps/secretary/users/ann/sessions/s1/unknown'


def origins():
  for origin in ('https://one.example', 'https://a.two.example', 'https://two.example', 'http://evil.example', 'null', ''):
    yield 'GET', '/health', None, {'Origin': origin}
    yield 'OPTIONS', '/run', None, {'Origin': origin, 'Access-Control-Request-Method': 'POST',
                                    'Access-Control-Request-Headers': 'content-type,x-one'}
    yield 'POST', SESSIONS, {'sessionId': 'never'}, {'Origin': origin}
  for host in ('evil.example', 'localhost', 'one.example', '127.0.0.1:1', '127.0.0.1.evil.example', '127.0.0.1:x', '[::1]:5'):
    yield 'GET', '/health', None, {'Host': host}


def differential(ours, theirs):
  compared = failed = 0
  for request in requests():
    replies = [send(url, *request) for url in (ours, theirs)]
    for reply, url in zip(replies, (ours, theirs)):
      if 'location' in reply[1]:
        reply[1]['location'] = reply[1]['location'].replace(url, '')
    if request[:2] == ('GET', SESSIONS) and isinstance(replies[0][2], list):
      for reply in replies:  # google-adk's services differ in the order
        reply[2].sort(key=lambda session: session['id'])
    what = compare(*replies)
    compared += 1
    if what:
      failed += 1
      print('%s in %s %s %s:\n  ours   %s\n  theirs %s' % (what, *request[:2], request[2:], *replies))
  print('%d requests compared, %d differences' % (compared, failed))
  return failed


# ------------------------------------------------------------------------------------------ google-adk's client


async def use_client(url):
  """google-adk's own client, of its conformance tests, with its models of sessions and events."""
  from google.adk.cli.adk_web_server import RunAgentRequest
  from google.adk.cli.conformance.adk_web_server_client import AdkWebServerClient
  from google.genai import types

  names = {'app_name': 'secretary', 'user_id': 'client'}
  async with AdkWebServerClient(url) as client:
    assert set(await client.get_version_data()) == {'version', 'language', 'language_version'}
    session = await client.create_session(**names, state={'a': 1})
    assert session.state == {'a': 1}, session
    session = await client.update_session(**names, session_id=session.id, state_delta={'b': 2})
    assert session.state == {'a': 1, 'b': 2}, session
    for streaming in (False, True):
      message = types.Content(role='user', parts=[types.Part(text='note tea')])
      request = RunAgentRequest(**names, session_id=session.id, new_message=message, streaming=streaming)
      texts = [event.content.parts[0].text async for event in client.run_agent(request) if not event.partial]
      assert texts[-1].startswith('Noted. Notes: ["tea"'), texts
    session = await client.get_session(**names, session_id=session.id)
    assert len(session.events) == 9 and session.state['user:notes'] == ['tea', 'tea'], session
    await client.delete_session(**names, session_id=session.id)
    send(url, 'POST', '/apps/secretary/users/client/sessions/x/artifacts', {'filename': 'n', 'artifact': {'text': 't'}})
    found = await client.list_artifact_versions_metadata(**names, session_id='x', artifact_name='n')
    one = await client.get_artifact_version_metadata(**names, session_id='x', artifact_name='n', version=0)
    assert found == [one] and one.mime_type == 'text/plain', found
  print("google-adk's client: works")


def main():
  url = sys.argv[1]
  asyncio.run(use_client(url))
  with tempfile.TemporaryDirectory() as folder:
    failed = differential(url, start_adk(folder))
  return 1 if failed else 0


if __name__ == '__main__':
  logging.disable()
  code = main()
  sys.stdout.flush()
  os._exit(code)  # uvicorn's thread goes on
